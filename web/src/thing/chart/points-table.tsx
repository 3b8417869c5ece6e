import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Series } from './series.ts'

const shownPoints = 100
const columns = { Average: 'average', Lowest: 'lowest', Highest: 'highest', Last: 'last' } as const

/** The newest points of a chart, newest first. */
export function PointsTable({ series: { points, interval } }: { readonly series: Series }) {
  const newest = points.slice(-shownPoints).reverse()
  return (
    <div class="scroll">
      <table>
        <caption>
          {points.length > shownPoints
            ? `The newest ${shownPoints} of ${points.length} points`
            : 'All points'}
          , each for {interval.text}
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {Object.keys(columns).map(name => (
              <th key={name} scope="col" class="numeric">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newest.map(point => (
            <tr key={point.time}>
              <td class="time">{formatMoment(point.time)}</td>
              {Object.values(columns).map(member => (
                <td key={member} class="numeric">
                  {formatNumber(point[member])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
