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
        'With a file or stdin, a server that refuses for now (429, 503) is waited for as long as it takes, and one that does not answer for up to a minute, also at the start. With readings on the command line each wait ends after a minute, and if there is no answer at the start the command fails at once (exit status 3).',
      ],
      exit: '0 all is stored; 1 something was refused: line and field are named; 2 wrong command line; 3 no answer from the server; 4 credential missing, unknown or not allowed; 130 Ctrl-C',
    },
  )
}

async function write(first: string | undefined, rest: readonly string[], flags: Flags): Promise<void> {
  const named = first !== undefined && isReading(first) ? undefined : first
  const operands = named === undefined && first !== undefined ? [first, ...rest] : rest
  if (operands.length === 0) {
    refuseOptions(flags, ['datetime', 'geo'], 'for readings on the command line: in a file each has its own')
    return await writeFile(named, flags.file ?? '-', flags)
  }
  if (flags.file !== undefined) throw usageError('give readings or --file, not both')
  refuseOptions(flags, ['format', 'key', 'date'], 'for records of a file: add --file, or leave it out')
  await writeReadings(named, operands, flags)
}

/** @throws CommandError usage if one of the options was given */
function refuseOptions(flags: Flags, names: readonly (keyof Flags)[], why: string): void {
  const given = names.find(name => flags[name] !== undefined)
  if (given !== undefined) throw usageError(`--${given} is ${why}`)
}
