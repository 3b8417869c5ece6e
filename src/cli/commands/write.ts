import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { RefusedError, type ServerClient } from '../client.ts'
import { type ConnectionFlags, connect, withConnection } from '../connection.ts'
import { CommandError, failure, usageError } from '../exit.ts'
import { LoadState } from '../load/load-state.ts'
import { type LoadCounts, load, type WriteFlags } from '../load/loader.ts'
import { patiently } from '../load/patiently.ts'
import { findThing, type NamedThing } from '../named-thing.ts'
import { counted, grouped, printJson, printLine } from '../output.ts'
import { durationText, Progress } from '../progress.ts'
import { geoOf, isReading, readingOf } from '../records/argument.ts'
import { csvRecords } from '../records/csv.ts'
import { ndjsonRecords } from '../records/ndjson.ts'
import { decoded } from '../records/text.ts'
import { isDate } from '../records/time-of-day.ts'
import { teach } from '../teach.ts'

interface Flags extends ConnectionFlags {
  readonly file?: string
  readonly format?: string
  readonly key?: string
  readonly date?: string
  readonly datetime?: string
  readonly geo?: string
  readonly partial?: true
  readonly store: boolean
  readonly broadcast: boolean
  readonly json?: true
}

/** `thingwire write`. */
export function addWrite(program: Command): void {
  teach(
    withConnection(program.command('write').description('Write readings: from arguments, a file or stdin.'))
      .usage('[thing] [key=value...] [options]')
      .argument('[thing]', "id or unique name; left out with a thing's own token")
      .argument('[readings...]', 'key=value: JSON if it is that, else a string')
      .option(
        '--datetime <time>',
        'of these readings, such as 2026-11-21T09:30:00Z; else the time of receipt',
      )
      .option('--geo <lat,long>', 'where these readings were taken, in degrees')
      .option('--file <file>', 'records of a file, in NDJSON or CSV; - is stdin, as is giving no readings')
      .option('--format <format>', 'ndjson or csv; default by the name of the file, else ndjson')
      .option('--key <key>', 'of all records of a CSV file with a column value and no column key')
      .option('--date <YYYY-MM-DD>', 'day of the first row of a CSV file that has times of day (UTC) alone')
      .option('--partial', 'leave out what is refused, and take the rest')
      .option('--no-store', 'live only: nothing is kept')
      .option('--no-broadcast', 'store only: no live message')
      .option('--json', 'one JSON document')
      .action(write),
    {
      examples: [
        [`write boat temperature=21.5 'state={"on":true}' --geo 60.08,23.54`, 'two readings, in one write'],
        [
          'write boat --file voyage.csv --date 2026-11-20',
          'a file; run again, it goes on or changes nothing',
        ],
        ['write boat < readings.ndjson', 'a record a line: {"key":"depth","value":9.8,"datetime":"…"}'],
      ],
      notes: [
        `CSV has a head: datetime,key,value,lat,long; or with --key the same without key; or datetime,lat,long and a column for each key, where lat and long are the position ($geo), too. Only the values have to be there.`,
        'A file is written in batches of about 500 records, each whole or not at all. Where a run stopped is kept in $XDG_STATE_HOME/thingwire (~/.local/state/thingwire). The same file twice stores nothing twice: records with a datetime never, others within 24 hours and the last 1,000 writes of the thing. Of stdin the latter are new each time.',
        'A server that is busy or stopped for a moment (429, 503, no answer for up to a minute) is waited for.',
      ],
      exit: '0 all is stored; 1 something was refused: line and field are named; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C',
    },
  )
}

async function write(first: string | undefined, rest: readonly string[], flags: Flags): Promise<void> {
  const named = first !== undefined && isReading(first) ? undefined : first
  const operands = named === undefined && first !== undefined ? [first, ...rest] : rest
  if (operands.length > 0 && flags.file !== undefined) throw usageError('give readings or --file, not both')
  if (operands.length > 0) return await writeReadings(named, operands, flags)
  if (flags.datetime !== undefined || flags.geo !== undefined) {
    throw usageError(
      '--datetime and --geo are for readings on the command line: in a file each record has its own',
    )
  }
  await writeFile(named, flags.file ?? '-', flags)
}

async function writeReadings(
  named: string | undefined,
  operands: readonly string[],
  flags: Flags,
): Promise<void> {
  const common = {
    ...(flags.geo === undefined ? {} : { geo: geoOf(flags.geo) }),
    ...(flags.datetime === undefined ? {} : { datetime: flags.datetime }),
  }
  const values = operands.map(operand => ({ ...readingOf(operand), ...common }))
  const client = await connect(flags, 'any')
  const thing = await findThing(client, named)
  // With an id of its own, a write whose answer was lost can be sent again.
  const body = { id: randomUUID(), ...writeFlags(flags), values }
  const progress = new Progress()
  const rejected = await patiently(
    () => client.post<{ rejected?: object[] }>(`/v2/things/${thing.thingId}`, body),
    {
      wasThere: false,
      onWait: (why, seconds) => progress.say(`${why}: again in ${seconds} s`),
    },
  )
    .then(answer => answer.rejected ?? [])
    .catch((error: unknown) => {
      throw error instanceof RefusedError && error.errors.length > 0
        ? refusedReadings(error, operands)
        : error
    })
  await tellResult(
    thing,
    { records: values.length - rejected.length, before: 0, refused: rejected.length },
    flags,
  )
}

function refusedReadings({ status, errors }: RefusedError, operands: readonly string[]): CommandError {
  const lines = errors.map(({ index, message, reason }) => `${operands[index]}: ${message} (${reason})`)
  return new CommandError(status, 'nothing was written: the server refuses', lines)
}

async function writeFile(named: string | undefined, file: string, flags: Flags): Promise<void> {
  const isStdin = file === '-'
  if (isStdin && process.stdin.isTTY) {
    throw usageError('give readings as key=value, or --file, or records on stdin')
  }
  if (isStdin && flags.credentialFile === '-') throw usageError('stdin can be the credential or the records')
  if (flags.date !== undefined && !isDate(flags.date)) throw usageError('--date must be a day as 2026-11-21')
  const format = flags.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  if (format !== 'csv' && format !== 'ndjson') throw usageError('--format must be ndjson or csv')
  if (format === 'ndjson' && (flags.key ?? flags.date) !== undefined) {
    throw usageError('--key and --date are for CSV: add --format csv')
  }
  const size = isStdin ? undefined : await sizeOf(file)
  const client = await connect(flags, 'any')
  const thing = await findThing(client, named)
  // How many of them are new, the server does not say.
  const did = flags.store && !isStdin ? 'now in' : 'written to'
  await tellResult(thing, await loadFile({ client, thing, file, size, format, flags }), flags, did)
}

interface FileLoad {
  readonly client: ServerClient
  readonly thing: NamedThing
  readonly file: string
  /** Bytes; undefined for stdin. */
  readonly size: number | undefined
  readonly format: 'csv' | 'ndjson'
  readonly flags: Flags
}

async function loadFile({ client, thing, file, size, format, flags }: FileLoad): Promise<LoadCounts> {
  const progress = new Progress()
  const isStdin = size === undefined
  const begin = Date.now()
  let bytes = 0
  async function* chunks(): AsyncGenerator<Uint8Array> {
    bytes = 0
    const stream: AsyncIterable<Buffer> = isStdin ? process.stdin : createReadStream(file)
    for await (const chunk of stream) {
      bytes += chunk.length
      yield chunk
    }
  }
  async function* source() {
    const texts = decoded(chunks())
    const lines =
      format === 'csv' ? csvRecords(texts, { key: flags.key, date: flags.date }) : ndjsonRecords(texts)
    for await (const line of lines) yield { ...line, thingId: thing.thingId }
  }
  const state = isStdin ? undefined : new LoadState(['write', client.url, thing.thingId, resolve(file)])
  const done = await load(source, {
    client,
    flags: writeFlags(flags),
    state,
    salt: isStdin ? randomUUID() : '',
    progress,
    onBatch: counts => progress.show(() => progressText(counts, Date.now() - begin, bytes, size)),
  })
  progress.clear()
  await state?.remove()
  return done
}

/** `24,500 records, 12,250/s, 49 % of the file, 4 s left`. */
function progressText({ records, before }: LoadCounts, passed: number, bytes: number, size?: number): string {
  const rate = Math.round(((records - before) * 1000) / Math.max(passed, 1))
  const text = `${grouped(records)} records, ${grouped(rate)}/s`
  if (size === undefined) return text
  const share = Math.min(bytes / Math.max(size, 1), 1)
  const left = (records / Math.max(share, 0.001) - records) / Math.max(rate, 1)
  return `${text}, ${Math.floor(share * 100)} % of the file, ${durationText(left * 1000)} left`
}

async function tellResult(
  { thingId, name }: NamedThing,
  done: LoadCounts,
  { json }: Flags,
  did: 'written to' | 'now in' = 'written to',
): Promise<void> {
  const { records, before, refused } = done
  if (json) await printJson({ thingId, ...done })
  else {
    const resumed = before > 0 ? `, ${grouped(before)} of them in a run before` : ''
    await printLine(`${counted(records, 'record')} ${did} ${name || thingId}${resumed}`)
  }
  if (refused > 0) throw failure(`${counted(refused, 'record')} refused and left out`)
}

function writeFlags({ partial, store, broadcast }: Flags): WriteFlags {
  return {
    ...(partial ? { partial } : {}),
    ...(store ? {} : { store: false }),
    ...(broadcast ? {} : { broadcast: false }),
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (!found.isDirectory()) return found.size
  } catch (error) {
    throw usageError(`cannot read ${file}: ${(error as Error).message}`)
  }
  throw usageError(`${file} is a directory`)
}
