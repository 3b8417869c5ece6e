import { formatMoment } from '../../time/format.ts'
import { averaged, type Description } from '../description.ts'
import { formatNumber } from '../resources/format-value.ts'
import type { Series } from './series.ts'

const shownPoints = 100
const columnsOfValues = { Average: 'average', Lowest: 'lowest', Highest: 'highest', Last: 'last' } as const
const columnsOfGrowth = { Growth: 'average' } as const

interface PointsTableProps {
  readonly series: Series
  readonly description: Description
  readonly isGrowth: boolean
}

/** The newest points of a chart, newest first. */
export function PointsTable({ series: { points, interval }, description, isGrowth }: PointsTableProps) {
  const columns = isGrowth ? columnsOfGrowth : columnsOfValues
  const { unit, decimals } = description
  const newest = points.slice(-shownPoints).reverse()
  return (
    <div class="scroll">
      <table>
        <caption>
          {points.length > shownPoints
            ? `The newest ${shownPoints} of ${points.length} points`
            : 'All points'}
          , each for {interval.text}
          {unit !== undefined && `, in ${unit}`}
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
                  {member === 'average'
                    ? averaged(point.average, point, { ...(decimals !== undefined && { decimals }) })
                    : formatNumber(point[member], decimals)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
