import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { parseDatetime } from '../../core/record/datetime.ts'
import { RefusedError } from '../client/client.ts'
import { connect, serverCommand } from '../client/connection.ts'
import { findThing } from '../client/named-thing.ts'
import { CommandError, usageError } from '../exit.ts'
import { withRetry } from '../load/with-retry.ts'
import { counted } from '../output.ts'
import { Progress } from '../progress.ts'
import { geoOf, isReading, notesOf, readingOf } from '../records/argument.ts'
import { type Flags, writeFlags } from '../writing/flags.ts'
import { showResult } from '../writing/result.ts'

export function addWrite(program: Command): void {
  serverCommand(program, 'write', 'Write readings: from arguments, a file or stdin.', {
    examples: [
      [`write boat temperature=21.5 'state={"on":true}' --geo 60.08,23.54`, 'two readings, in one write'],
      ['write boat --file voyage.csv --dry-run', 'what a file would be read as, without a server'],
      [
        'write boat --file voyage.csv --date 2026-11-20 --tz UTC',
        'a file; a second run continues, or changes nothing',
      ],
      ['write boat < readings.ndjson', 'one record a line: {"key":"depth","value":9.8,"datetime":"…"}'],
    ],
    notes: [
      `A CSV file has a header line. Cells are separated by commas, semicolons, tabs or | (or as a first line sep=; says). The time is the column called datetime, time, timestamp, ts or epoch, or else the one whose first cell is a time (a day and a time of day apart are joined). The others are found by their names in any case and spelling: the position (lat, latitude; long, lon, lng, longitude; also next to other words). With a column value (or _value) a row is one record, and its key is from a column key (or _field, metric, variable, …) or --key. Otherwise each other column is a key, and the position is also written as $geo. A column without a name is left out.`,
      'A line of NDJSON is one record, {"key","value","datetime","geo"}. Its fields are found like the columns of a CSV file.',
      'No digit is lost: an integer that a 64-bit float would change, such as the number of a SIM card, is stored as text, also inside objects and arrays. A note says so.',
      'Every record needs a time, unless --now is given. Times without a zone need --tz. A day on which a key has two rows is not a time: their time of day is in another column, which --time-column names. Numbers are times only with --time-unit. Times of day without a day need --date: a step back of more than 12 h is the next day, and any other one ends the command. Before anything is written, stderr says what each column is taken for, and shows the first records and how far the zone of --tz is from UTC at the first one.',
      'write sends a file in batches of about 500 records. Each batch is stored as a whole or not at all. The place where a run stopped is kept in $XDG_STATE_HOME/thingwire (~/.local/state/thingwire). A second run of the same file stores no record twice if the records have a time. Records without one are recognised within 24 hours and the last 1,000 writes of the thing; from stdin they are always new.',
      'With a file or stdin, write waits without limit for a server that answers 429 or 503, and up to a minute for a server that does not answer. With readings on the command line it waits up to a minute; without any answer at the start it fails at once (exit status 3).',
    ],
    exit: '0 all is stored; 1 records were refused, each with line and field; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C',
  })
    .usage('[thing] [key=value...] [options]')
    .argument('[thing]', "id or unique name; left out with a thing's own token")
    .argument('[readings...]', 'key=value, each key once; the value is JSON if it parses, else a string')
    .option(
      '--datetime <time>',
      'time of these readings, such as 2026-11-21T09:30:00Z; default the time of receipt',
    )
    .option('--geo <lat,long>', 'position of these readings, in degrees')
    .option(
      '--file <file>',
      'file with records, NDJSON or CSV; - is stdin, also the default without readings',
    )
    .option('--format <format>', 'ndjson or csv; default: csv for a name in .csv or .tsv, else ndjson')
    .option(
      '--dry-run',
      'show what each column is taken for, the first records and what cannot be read; ask no server',
    )
    .option('--time-column <name>', 'column of the times; default: found by its first cell, or its name')
    .option(
      '--time-unit <unit>',
      'unit of a column of numbers: s, ms, us or ns of a Unix time; 1h, 30m, 1m or hhmm (930 is 09:30) of a time of day next to a column date',
    )
    .option('--tz <zone>', 'time zone of the times that name none, such as UTC, Europe/Berlin or +02:00')
    .option('--date <YYYY-MM-DD>', 'day of the first row of a file that has only times of day')
    .option('--now', 'give records without a time that of their receipt')
    .option('--geo-columns <lat,long>', 'columns of the position; default: found by their names')
    .option('--key <key>', 'key for all records of a file with a column value and no column key')
    .option('--decimal <character>', 'character before the decimals of a CSV file: . (the default) or ,')
    .option('--partial', 'leave out refused records, and store the rest')
    .option('--no-store', 'send the live message only, and store nothing')
    .option('--no-broadcast', 'store only, and send no live message')
    .action(write)
}

async function write(first: string | undefined, rest: readonly string[], flags: Flags): Promise<void> {
  const named = first !== undefined && isReading(first) ? undefined : first
  const operands = named === undefined && first !== undefined ? [first, ...rest] : rest
  if (operands.length === 0) {
    refuseOptions(
      flags,
      ['datetime', 'geo'],
      'only for readings on the command line: in a file each record has its own',
    )
    // The CSV parser is only loaded when a file is read.
    const { writeFile } = await import('../writing/write-file.ts')
    return await writeFile(named, flags.file ?? '-', flags)
  }
  if (flags.file !== undefined) throw usageError('give either readings or --file')
  refuseOptions(flags, fileFlags, 'only for a file: add --file, or leave this option out')
  await writeReadings(named, operands, flags)
}

const fileFlags = [
  'format',
  'dryRun',
  'timeColumn',
  'timeUnit',
  'tz',
  'date',
  'now',
  'geoColumns',
  'key',
  'decimal',
] as const satisfies readonly (keyof Flags)[]

/** @throws CommandError usage if one of the named options was given; `why` completes the sentence "--option is …" */
function refuseOptions(flags: Flags, names: readonly (keyof Flags)[], why: string): void {
  const given = names.find(name => flags[name] !== undefined)
  if (given === undefined) return
  const option = given.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`)
  throw usageError(`--${option} is ${why}`)
}

/** Writes the readings given on the command line, in one write. */
export async function writeReadings(
  named: string | undefined,
  operands: readonly string[],
  flags: Flags,
): Promise<void> {
  if (flags.datetime !== undefined && parseDatetime(flags.datetime) === undefined) {
    throw usageError(`--datetime must be a time such as 2026-11-21T09:30:00Z, but it is ${flags.datetime}`)
  }
  // As in a file, a time of day must have a zone: otherwise it could be local time or UTC.
  if (flags.datetime?.includes(':') && !/(?:z|[+-]\d\d:?\d\d)$/i.test(flags.datetime)) {
    throw usageError(
      `--datetime ${flags.datetime} names no zone: end it with Z, or with an offset such as +02:00`,
    )
  }
  const geo = flags.geo === undefined ? undefined : geoOf(flags.geo)
  const values = operands.map(operand => ({ ...readingOf(operand), geo, datetime: flags.datetime }))
  const repeated = values.find(({ key }, at) => values.findIndex(each => each.key === key) !== at)
  if (repeated) {
    throw usageError(
      `${repeated.key} is given twice, and both values would get the same time: write them in separate commands`,
    )
  }
  for (const note of operands.flatMap(notesOf)) console.error(`thingwire: note: ${note}`)
  const client = await connect(flags, 'any')
  const progress = new Progress()
  const onWait = (why: string, seconds: number) => progress.say(`${why}: again in ${seconds} s`)
  const thing = await withRetry(() => findThing(client, named), {
    isExpected: false,
    isEndless: false,
    onWait,
  })
  // Thanks to the write id, the server does not store the write twice if it is sent again after a lost answer.
  const body = { id: randomUUID(), ...writeFlags(flags), values }
  const rejected = await withRetry(
    () => client.post<{ rejected?: object[] }>(`/v2/things/${thing.thingId}`, body),
    { isExpected: true, isEndless: false, onWait },
  )
    .then(answer => answer.rejected ?? [])
    .catch((error: unknown) => {
      throw error instanceof RefusedError && error.errors.length > 0
        ? refusedReadings(error, operands)
        : error
    })
  const records = values.length - rejected.length
  await showResult(
    thing,
    { records, before: 0, refused: rejected.length },
    { text: `${counted(records, 'record')} written to ${thing.name || thing.thingId}`, json: flags.json },
  )
}

function refusedReadings({ status, errors }: RefusedError, operands: readonly string[]): CommandError {
  const lines = errors.map(({ index, message, reason }) => `${operands[index]}: ${message} (${reason})`)
  return new CommandError(status, 'nothing was written: the server refused', lines)
}
