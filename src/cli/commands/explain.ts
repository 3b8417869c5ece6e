import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { FieldError } from '../../errors.ts'
import { failure, usageError } from '../exit.ts'
import { withHelp } from '../help.ts'
import { counted, printResult, table } from '../output.ts'

interface Flags {
  readonly format: string
  readonly levels?: string
  readonly json?: true
}

/** How a server would take a message. */
interface Explanation {
  readonly records: readonly { readonly key: string; readonly value: unknown; readonly datetime?: string }[]
  readonly rejected: readonly FieldError[]
}

export function addExplain(program: Command): void {
  withHelp(
    program
      .command('explain')
      .description('Show what a server would store of a message in another format. Asks no server.')
      .usage('<file> --format <name> [--levels <levels>] [--json]')
      .argument('<file>', 'file that holds one message; - is stdin')
      .requiredOption('--format <name>', 'format of the message, such as value, json or influx')
      .option('--levels <levels>', 'what follows the format in the address, such as cellar/temperature')
      .option('--json', 'one JSON document')
      .action(explain),
    {
      examples: [
        ['explain reading.json --format json --levels cellar', 'sent to things/<token>/write/json/cellar'],
        ['explain - --format influx < metrics.txt', 'line protocol from stdin'],
      ],
      notes: [
        'A value that is no reading, such as null or unavailable, is not stored, and is not in the table. If a record is refused, a server stores nothing of the message, unless the write has partial=true.',
      ],
      exit: '0 the message would be stored, or has no reading; 1 it would be refused, in whole or in part, or cannot be read; 2 wrong command line',
    },
  )
}

async function explain(file: string, { format, levels, json }: Flags): Promise<void> {
  const address = levels === undefined ? format : `${format}/${levels}`
  const { records, rejected } = await explanationOf(address, await contentOf(file))
  const rows = records.map(({ key, value, datetime }) => [
    key,
    JSON.stringify(value),
    datetime ?? 'receipt time',
  ])
  const text = rows.length === 0 ? 'no reading' : table(['key', 'value', 'time'], rows)
  if (json || rows.length > 0 || rejected.length === 0)
    await printResult({ json }, { records, rejected }, text)
  if (rejected.length === 0) return
  throw failure(
    `the message is refused for ${counted(rejected.length, 'record')}`,
    rejected.map(({ index, message, reason }) => `record ${index}: ${message} (${reason})`),
  )
}

async function contentOf(file: string): Promise<Uint8Array> {
  if (file !== '-') return await readFile(file)
  if (process.stdin.isTTY) throw usageError('give a file, or the message on stdin')
  return await buffer(process.stdin)
}

/** @throws CommandError if the message would be refused as a whole */
async function explanationOf(address: string, body: Uint8Array): Promise<Explanation> {
  // Loaded only now: other commands need nothing of the server.
  const { parseWrite, WriteRefused } = await import('../../core/parse.ts')
  const { writeFormats } = await import('../../formats/write-formats.ts')
  const { createMagicRegistry } = await import('../../magic/registry.ts')
  try {
    const { records, rejected } = parseWrite(body, {
      options: { partial: true },
      now: Date.now(),
      magic: createMagicRegistry(),
      read: () => writeFormats.read(address, body),
    })
    const taken = records.map(({ key, value, datetime, explicit }) => ({
      key,
      value: JSON.parse(value) as unknown,
      ...(explicit && { datetime: formatDatetime(datetime) }),
    }))
    return { records: taken, rejected }
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error
    if (error.errors) return { records: [], rejected: error.errors }
    throw failure(`${error.message} (${error.reason})`)
  }
}
