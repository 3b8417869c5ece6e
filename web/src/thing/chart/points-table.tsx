import { formatMoment } from '../../time/format.ts'
import { formatNumber } from '../resources/format-value.ts'
import { intervalText } from './interval.ts'
import type { Series } from './series.ts'

const shownPoints = 100

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
          {interval === undefined ? '' : `, each for ${intervalText(interval)}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="numeric">
              {interval === undefined ? 'Value' : 'Average'}
            </th>
            {interval !== undefined && (
              <>
                <th scope="col" class="numeric">
                  Lowest
                </th>
                <th scope="col" class="numeric">
                  Highest
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {newest.map((point, at) => (
            <tr key={points.length - at}>
              <td class="time">{formatMoment(point.time)}</td>
              <td class="numeric">{formatNumber(point.average)}</td>
              {interval !== undefined && (
                <>
                  <td class="numeric">{formatNumber(point.lowest)}</td>
                  <td class="numeric">{formatNumber(point.highest)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
