import type { Command } from 'commander'
import { csvField } from '../../core/record/record-text.ts'
import { timeZoneOf } from '../../core/time/time-zone.ts'
import { RefusedError, type ServerClient } from '../client/client.ts'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { type NamedThing, resourceNamed } from '../client/named-thing.ts'
import { CommandError, failure, usageError } from '../exit.ts'
import { print, printJson, printLine, table, valueText } from '../output.ts'
import { type Description, measured, readDescriptions } from '../reading/descriptions.ts'
import {
  knownKeys,
  type ReadInterval,
  type ReadQuery,
  type ReadRecord,
  readIntervals,
  readItems,
  resourcePath,
} from '../reading/read-records.ts'
import { timeRange } from '../time.ts'

interface Flags extends ConnectionFlags, ReadOptions {
  readonly csv?: true
  readonly ndjson?: true
  readonly sparkline?: true
}

type Form = 'table' | 'csv' | 'ndjson' | 'json' | 'sparkline'
type Resource = readonly [thingId: string, key: string]

/** Maximum number of records in a table without `--limit`. */
const tableRecords = 20
/** The functions that `--points` computes for each interval. */
const columnFunctions = ['avg', 'min', 'max', 'count', 'first', 'last']
const headOfRecords = ['datetime', 'lat', 'long', 'value']

export function addRead(program: Command): void {
  serverCommand(program, 'read', 'Read records of a resource, newest first.', {
    examples: [
      ['read boat depth --from 2026-11-20 --csv > depth.csv', 'from a day on, into a file'],
      ['read boat depth --aggregate avg,min,max --interval 5m', 'one row for five minutes'],
      [
        'read boat depth,wind --aggregate avg --interval 1d --tz Europe/Madrid',
        'days of a time zone, of two resources',
      ],
      ['read boat depth --points 800 --csv > chart.csv', 'for a chart that is 800 pixels wide'],
      ['read boat depth --sparkline', 'a chart in one line'],
    ],
    notes: [
      'For $geo, $settings and $meta read shows the present state. With a range or --limit it shows the written records.',
      'A table and --sparkline show numbers with the unit and the decimals that describe has set. CSV, NDJSON and JSON have the numbers as they are stored.',
    ],
  })
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .argument(
      '[key]',
      'key of the resource, or with --aggregate or --points of several, separated by commas; without it, the newest record of each resource',
    )
    .option(
      '--from <time>',
      'start of the range, such as 2026-11-21 or 2026-11-21T09:30:00Z; in UTC, or in the zone of --tz, if it names none',
    )
    .option('--to <time>', 'end of the range, exclusive: for one day, give the next day')
    .option(
      '--limit <n>',
      `maximum number of records, or of intervals of each key; default ${tableRecords} in a table, else all`,
    )
    .option('--order <asc|desc>', 'oldest first (asc) or newest first (desc, the default)')
    .option('--aggregate <functions>', 'for each interval one or more of avg,min,max,sum,count,first,last')
    .option('--interval <length>', 'length of an interval, such as 30s, 5m, 1h, 1d or 1mo')
    .option(
      '--points <n>',
      'in place of --aggregate and --interval: avg, min, max, count, first and last of at most n intervals of a round length',
    )
    .option(
      '--tz <zone>',
      'time zone of days and months, and of --from and --to, such as Europe/Madrid; default UTC',
    )
    .option('--empty', 'include intervals without records')
    .option('--csv', 'CSV: datetime,value,lat,long')
    .option('--ndjson', 'one JSON object a line; the default if stdout is not a terminal')
    .option('--sparkline', 'one line of bars for the range')
    .action(read)
}

async function read(first: string | undefined, second: string | undefined, flags: Flags): Promise<void> {
  const form = formOf(flags)
  const query = await queryOf(flags)
  // Refuses a wrong limit before the first request.
  limitOf(flags)
  if (form === 'sparkline') refuseOthers(flags, ['from', 'to'], 'cannot be combined with --sparkline')
  const functions = functionsOf(query)
  if (second !== undefined) keysIn(second, functions)
  const client = await connect(flags, 'any')
  const { thing, key } = await resourceNamed(client, first, second)
  if (key === undefined) {
    refuseOthers(flags, [], 'needs a key: thingwire read <thing> <key>')
    return await readNewest(client, thing, form)
  }
  const keys = keysIn(key, functions)
  await readKeys(client, thing.thingId, keys, flags).catch(async (error: unknown) => {
    if (!(error instanceof RefusedError) || error.reason !== 'unknown_resource') throw error
    const { unknown, has } = await knownKeys(client, thing.thingId, keys)
    // The thing has all keys, so the error is about a path within the settings.
    if (unknown.length === 0) throw error
    throw new CommandError(error.status, error.message, [`no record of ${unknown.join(', ')}: ${has}`])
  })
}

async function readKeys(
  client: ServerClient,
  thingId: string,
  [only, ...others]: readonly [string, ...string[]],
  flags: Flags,
): Promise<void> {
  const form = formOf(flags)
  const query = await queryOf(flags)
  const functions = functionsOf(query)
  const resource = [thingId, only] as const
  // If there are several keys, the server leaves out keys without records instead of refusing the request.
  if (others.length > 0) {
    const { unknown, has } = await knownKeys(client, thingId, [only, ...others])
    if (unknown.length > 0) console.error(`thingwire: note: no record of ${unknown.join(', ')}: ${has}`)
  }
  // Programs get the numbers as they are.
  const descriptions = form === 'table' || form === 'sparkline' ? await readDescriptions(client, thingId) : {}
  if (form === 'sparkline') {
    const { line, interval, min, max, first, last } = await sparklineOf(client, resource, query)
    const isRounded = descriptions[only]?.decimals !== undefined
    const [lowest, highest] = [min, max].map(value =>
      measured(isRounded ? value : Number(value.toPrecision(6)), descriptions[only]),
    )
    const range = `${first.datetime} to ${last.datetime}, averages of ${interval}`
    return await printLine(`${line}\n${range}, ${lowest} to ${highest}`)
  }
  // For a magic resource, the present state is shown, unless an option asks for written records.
  const isState =
    only.startsWith('$') &&
    form !== 'csv' &&
    [flags.from, flags.to, flags.limit, flags.order, functions].every(each => each === undefined)
  const limit = isState ? 1 : limitOf(flags)
  const most = limit ?? (form === 'table' && query.points === undefined ? tableRecords : undefined)
  if (functions) {
    const isOne = others.length === 0
    const head = [...(isOne ? [] : ['key']), 'datetime', ...functions]
    const intervals = isOne
      ? readItems<ReadInterval>(client, resource, query, most)
      : readIntervals(client, thingId, [only, ...others], query, most)
    const hasSome = await showItems(intervals, form, head, interval =>
      head.map(name => {
        const value = interval[name]
        return name === 'count' ? value : measured(value, descriptions[String(interval.key ?? only)])
      }),
    )
    return hasSome ? undefined : await noteNewest(client, resource)
  }
  const hasSome =
    form === 'csv' || (form === 'ndjson' && !isState)
      ? await stream(client, resource, query, form, limit)
      : await showItems(readItems<ReadRecord>(client, resource, query, most), form, headOfRecords, record =>
          rowOf(record, descriptions[only]),
        )
  if (!hasSome) await noteNewest(client, resource)
}

/** Notes on stderr that the range is empty, and where the newest record is. */
async function noteNewest(client: ServerClient, resource: Resource): Promise<void> {
  for await (const { datetime } of readItems<ReadRecord>(client, resource, { order: 'desc' }, 1))
    console.error(`thingwire: note: no record of ${resource[1]} in the range; its newest is of ${datetime}`)
}

function functionsOf({ points, aggregate }: ReadQuery): readonly string[] | undefined {
  return points === undefined ? aggregate?.split(',') : columnFunctions
}

/** @throws CommandError usage if there are several keys but no aggregate functions */
function keysIn(text: string, functions: readonly string[] | undefined): [string, ...string[]] {
  const [only = text, ...others] = new Set(text.split(','))
  if (others.length > 0 && !functions) throw usageError('several keys need --aggregate or --points')
  return [only, ...others]
}

async function readNewest(client: ServerClient, { thingId }: NamedThing, form: Form): Promise<void> {
  const all = await client.call<{ values: ReadRecord[] }[]>(`/v2/things/${thingId}/all_resources?limit=1`)
  const records = all.flatMap(({ values }) => values)
  if (form === 'json') return await printJson(records)
  if (form === 'ndjson') return await print(records.map(record => `${JSON.stringify(record)}\n`).join(''))
  if (form !== 'table') throw usageError('--csv and --sparkline need a key: thingwire read <thing> <key>')
  const descriptions = await readDescriptions(client, thingId)
  const rows = records.map(record => [record.key, ...rowOf(record, descriptions[record.key])])
  await printLine(rows.length === 0 ? 'the thing has no keys yet' : table(['key', ...headOfRecords], rows))
}

function rowOf({ datetime, geo, value }: ReadRecord, description: Description | undefined): string[] {
  const shown = valueText(measured(geo ? (value ?? '') : value, description))
  return [datetime, String(geo?.lat ?? ''), String(geo?.long ?? ''), shown]
}

/** @returns whether there were items */
async function showItems<Item>(
  items: AsyncIterable<Item>,
  form: Form,
  head: readonly string[],
  rowOf: (item: Item) => readonly unknown[],
): Promise<boolean> {
  if (form === 'json') return await printArray(items)
  if (form === 'csv') await print(csvLine(head))
  const rows: string[][] = []
  let hasSome = false
  for await (const item of items) {
    hasSome = true
    if (form === 'ndjson') await printLine(JSON.stringify(item))
    else if (form === 'csv') await print(csvLine(rowOf(item)))
    else rows.push(rowOf(item).map(cell => valueText(cell ?? '')))
  }
  if (rows.length > 0) await printLine(table(head, rows))
  return hasSome
}

/** Prints the whole range in the server's own format, as it arrives. @returns whether there were records */
async function stream(
  client: ServerClient,
  [thingId, key]: Resource,
  query: ReadQuery,
  form: 'csv' | 'ndjson',
  limit: number | undefined,
): Promise<boolean> {
  const accept = form === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const path = resourcePath(thingId, key, { ...query, limit })
  const response = await client.open(path, { headers: { accept } })
  const decoder = new TextDecoder()
  let lines = 0
  for await (const part of client.partsOf(response)) {
    const text = decoder.decode(part, { stream: true })
    await print(text)
    if (lines < 2) lines += text.split('\n').length - 1
  }
  return lines > (form === 'csv' ? 1 : 0)
}

async function printArray(items: AsyncIterable<unknown>): Promise<boolean> {
  let before = '['
  for await (const item of items) {
    await print(before + JSON.stringify(item))
    before = ','
  }
  await printLine(before === '[' ? '[]' : ']')
  return before !== '['
}

function formOf({ csv, ndjson, json, sparkline }: Flags): Form {
  const wanted = Object.entries({ csv, ndjson, json, sparkline }).filter(([, isWanted]) => isWanted)
  if (wanted.length > 1) throw usageError('give only one of --csv, --ndjson, --json and --sparkline')
  const [form] = wanted[0] ?? []
  return (form as Form | undefined) ?? (process.stdout.isTTY ? 'table' : 'ndjson')
}

function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: unknown): string {
  return value === null || value === undefined || value === '' ? '' : csvField(valueText(value))
}

/** Options of `thingwire read` that select what is read. */
export interface ReadOptions {
  readonly from?: string
  readonly to?: string
  readonly limit?: string
  readonly order?: string
  readonly aggregate?: string
  readonly interval?: string
  readonly points?: string
  readonly tz?: string
  readonly empty?: true
}

const names = ['from', 'to', 'limit', 'order', 'aggregate', 'interval', 'points', 'tz', 'empty'] as const
const functions: ReadonlySet<string> = new Set(['avg', 'min', 'max', 'sum', 'count', 'first', 'last'])

/** @throws CommandError usage, naming the wrong option */
export async function queryOf(options: ReadOptions): Promise<ReadQuery> {
  const { from, to, order, aggregate, interval, points, tz, empty } = options
  if ((aggregate === undefined) !== (interval === undefined)) {
    throw usageError('--aggregate and --interval go together: --aggregate avg --interval 5m')
  }
  if (order !== undefined && order !== 'asc' && order !== 'desc') {
    throw usageError(`--order must be asc or desc, but it is ${order}`)
  }
  if (aggregate !== undefined && !aggregate.split(',').every(name => functions.has(name))) {
    const known = [...functions].join(', ')
    throw usageError(
      `--aggregate must be one or more of ${known}, separated by commas, but it is ${aggregate}`,
    )
  }
  if (interval !== undefined && !/^[1-9]\d{0,9}(ms|s|m|h|d|mo)$/.test(interval)) {
    throw usageError(
      `--interval must be a whole number and ms, s, m, h, d or mo, such as 5m, but it is ${interval}`,
    )
  }
  if (points !== undefined) {
    if (!/^[1-9]\d*$/.test(points))
      throw usageError(`--points must be a whole number, 1 or more, but it is ${points}`)
    refuseOthers(
      options,
      ['from', 'to', 'order', 'points', 'tz', 'empty'],
      'cannot be combined with --points',
    )
  } else if (aggregate === undefined) {
    const why = 'needs --aggregate and --interval, or --points'
    const isRange = from !== undefined || to !== undefined
    refuseOthers(options, ['from', 'to', 'limit', 'order', ...(isRange ? (['tz'] as const) : [])], why)
  }
  const zone = tz === undefined ? undefined : await timeZoneOf(tz)
  if (tz !== undefined && !zone)
    throw usageError(`--tz must be a time zone such as Europe/Berlin, but it is ${tz}`)
  const range = { ...timeRange(from, to, zone), order }
  return aggregate === undefined && points === undefined
    ? range
    : { ...range, aggregate, interval, points, tz, empty }
}

/** @throws CommandError usage */
export function limitOf({ limit }: ReadOptions): number | undefined {
  if (limit === undefined) return undefined
  if (/^[1-9]\d*$/.test(limit)) return Number(limit)
  throw usageError(`--limit must be a whole number, 1 or more, but it is ${limit}`)
}

/** @param why completes the sentence "--option …" @throws CommandError usage if an option that is not in `taken` is given */
export function refuseOthers(options: ReadOptions, taken: readonly (keyof ReadOptions)[], why: string): void {
  const given = names.find(name => options[name] !== undefined && !taken.includes(name))
  if (given !== undefined) throw usageError(`--${given} ${why}`)
}

const columns = 60
const bars = '▁▂▃▄▅▆▇█'
/** Interval lengths that people are used to, seconds. */
const lengths = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
]

interface Sparkline {
  /** One character for each interval, from the first interval on; a space for an interval without numbers. */
  readonly line: string
  readonly interval: string
  readonly min: number
  readonly max: number
  readonly first: ReadInterval
  readonly last: ReadInterval
}

/**
 * Draws the averages of a resource over a range, or over all of its records, as a line of at most 60 characters.
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
