import type { Command } from 'commander'
import { withConnection } from '../connection.ts'
import { usageError } from '../exit.ts'
import { isReading } from '../records/argument.ts'
import { teach } from '../teach.ts'
import type { Flags } from '../writing/flags.ts'
import { writeFile } from '../writing/write-file.ts'
import { writeReadings } from '../writing/write-readings.ts'

/** `thingwire write`. */
export function addWrite(program: Command): void {
  teach(
    withConnection(program.command('write').description('Write readings: from arguments, a file or stdin.'))
      .usage('[thing] [key=value...] [options]')
      .argument('[thing]', "id or unique name; left out with a thing's own token")
      .argument('[readings...]', 'key=value; the value is JSON if it parses, else a string')
      .option(
        '--datetime <time>',
        'time of these readings, such as 2026-11-21T09:30:00Z; default the time of receipt',
      )
      .option('--geo <lat,long>', 'position of these readings, in degrees')
      .option(
        '--file <file>',
        'file with records, NDJSON or CSV; - is stdin, also the default without readings',
      )
      .option('--format <format>', 'ndjson or csv; default: csv for a name in .csv, else ndjson')
      .option('--key <key>', 'key for all records of a CSV file with a column value and no column key')
      .option('--date <YYYY-MM-DD>', 'day of the first row of a CSV file that has only times of day (UTC)')
      .option('--partial', 'leave out refused records, and store the rest')
      .option('--no-store', 'send the live message only, and store nothing')
      .option('--no-broadcast', 'store only, and send no live message')
      .option('--json', 'one JSON document')
      .action(write),
    {
      examples: [
        [`write boat temperature=21.5 'state={"on":true}' --geo 60.08,23.54`, 'two readings, in one write'],
        [
          'write boat --file voyage.csv --date 2026-11-20',
          'a file; a second run goes on, or changes nothing',
        ],
        ['write boat < readings.ndjson', 'one record a line: {"key":"depth","value":9.8,"datetime":"…"}'],
      ],
      notes: [
        `A CSV file has a header line. Its columns are datetime,key,value,lat,long (with --key there is no column key); or datetime,lat,long and one column for each key, where lat and long also become the position ($geo). Only the columns of values are required.`,
        'write sends a file in batches of about 500 records. Each batch is stored as a whole or not at all. The place where a run stopped is kept in $XDG_STATE_HOME/thingwire (~/.local/state/thingwire). A second run of the same file stores no record twice if the records have a datetime. Records without one are recognised within 24 hours and the last 1,000 writes of the thing; from stdin they are always new.',
        'With a file or stdin, write waits without limit for a server that answers 429 or 503, and up to a minute for a server that does not answer. With readings on the command line it waits up to a minute; without any answer at the start it fails at once (exit status 3).',
      ],
      exit: '0 all is stored; 1 records were refused, each with line and field; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C',
    },
  )
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
    return await writeFile(named, flags.file ?? '-', flags)
  }
  if (flags.file !== undefined) throw usageError('give either readings or --file')
  refuseOptions(flags, ['format', 'key', 'date'], 'only for a file: add --file, or leave this option out')
  await writeReadings(named, operands, flags)
}

/** @throws CommandError usage if one of the options was given */
function refuseOptions(flags: Flags, names: readonly (keyof Flags)[], why: string): void {
  const given = names.find(name => flags[name] !== undefined)
  if (given !== undefined) throw usageError(`--${given} is ${why}`)
}
