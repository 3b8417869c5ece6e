import type { ServerClient } from '../client/client.ts'
import { failure } from '../exit.ts'
import { type ReadInterval, type ReadQuery, type ReadRecord, readItems } from './read-records.ts'

const columns = 60
const bars = '▁▂▃▄▅▆▇█'
/** Lengths of an interval that people think in, seconds. */
const lengths = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
]

interface Sparkline {
  /** One character for each interval from the first on; a space where there is no number. */
  readonly line: string
  readonly interval: string
  readonly min: number
  readonly max: number
  readonly first: ReadInterval
  readonly last: ReadInterval
}

/**
 * The averages of a resource over a range, or over all there is, as a line of at most 60 characters.
 *
 * @throws CommandError failed if there are no numbers
 */
export async function sparklineOf(
  client: ServerClient,
  resource: readonly [thingId: string, key: string],
  range: Pick<ReadQuery, 'startDate' | 'endDate'>,
): Promise<Sparkline> {
  const end = async (order: string) => {
    for await (const record of readItems<ReadRecord>(client, resource, { ...range, order }, 1)) {
      return Date.parse(record.datetime)
    }
    throw failure(`no records of ${resource[1]} in the range`)
  }
  const [begin, over] = [await end('asc'), await end('desc')]
  const seconds = intervalFor((over - begin) / 1000)
  const interval = `${seconds}s`
  const query = { ...range, aggregate: 'avg', interval, order: 'asc' }
  const items: ReadInterval[] = []
  for await (const item of readItems<ReadInterval>(client, resource, query)) items.push(item)
  const numbers = items.flatMap(({ avg }) => (typeof avg === 'number' ? [avg] : []))
  const [first, last] = [items[0], items.at(-1)]
  if (!first || !last || numbers.length === 0) throw failure(`${resource[1]} has no numbers in the range`)
  const [min, max] = [Math.min(...numbers), Math.max(...numbers)]
  return { line: draw(items, seconds * 1000, min, max), interval, min, max, first, last }
}

function intervalFor(seconds: number): number {
  const wanted = seconds / (columns - 1)
  return lengths.find(length => length >= wanted) ?? Math.ceil(wanted / 86_400) * 86_400
}

function draw(items: readonly ReadInterval[], interval: number, min: number, max: number): string {
  const start = Date.parse(items[0]?.datetime ?? '')
  const line: string[] = []
  for (const { datetime, avg } of items) {
    if (typeof avg !== 'number') continue
    const column = Math.round((Date.parse(datetime) - start) / interval)
    const height = max === min ? 0 : Math.round(((avg - min) / (max - min)) * (bars.length - 1))
    while (line.length < column) line.push(' ')
    line[column] = bars[height] ?? ''
  }
  return line.join('')
}
