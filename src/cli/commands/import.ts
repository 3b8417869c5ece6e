import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type ConnectionFlags, connect, serverCommand } from '../client/connection.ts'
import { findThing, readPrincipal, thingCalled } from '../client/named-thing.ts'
import { failure, usageError } from '../exit.ts'
import type { Addressed } from '../load/batches.ts'
import { LoadState } from '../load/load-state.ts'
import { load } from '../load/loader.ts'
import { counted, grouped, printResult } from '../output.ts'
import { Progress } from '../progress.ts'
import { type JsonLine, jsonLines } from '../records/ndjson.ts'
import type { WrittenRecord } from '../records/sourced.ts'
import { decoded } from '../records/text.ts'
import { ExpectedCounts } from '../transfer/expected-counts.ts'
import type { ExportedRecord } from '../transfer/exported.ts'
import { Targets } from '../transfer/targets.ts'

interface Flags extends ConnectionFlags {
  readonly to?: string
}

export function addImport(program: Command): void {
  serverCommand(program, 'import', 'Write the records of an export, and compare the counts at the end.', {
    examples: [
      ['import all.ndjson', 'into things of the same id or name; other things are created'],
      ['import boat.ndjson --to ketch', 'the records of boat into another thing'],
    ],
    notes: [
      'If import is interrupted, run it again: it continues where it stopped, and it stores nothing twice. At the end it compares the number of records of each resource with the file. A new thing has a new id and needs a new token (thingwire tokens add).',
    ],
  })
    .argument('<file>', 'NDJSON of thingwire export')
    .option('--to <thing>', 'id or unique name of the thing for the records, if the file contains one thing')
    .action(importFile)
}

async function importFile(file: string, flags: Flags): Promise<void> {
  if (file === '-') throw usageError('import can continue where it stopped, so it reads a file, not stdin')
  await stat(file).catch((error: Error) => {
    throw usageError(`cannot read ${file}: ${error.message}`)
  })
  const client = await connect(flags, 'any')
  const principal = await readPrincipal(client)
  const to = flags.to === undefined ? undefined : await thingCalled(client, flags.to)
  const only = to ?? (principal.kind === 'thing' ? await findThing(client, undefined) : undefined)
  const state = new LoadState(['import', client.url, only?.thingId ?? '', resolve(file)])
  await state.read()
  const targets = new Targets(client, state, only)
  const expected = new ExpectedCounts()
  const progress = new Progress()
  async function* source(): AsyncGenerator<Addressed> {
    expected.clear()
    for await (const line of jsonLines(decoded(exportIn(createReadStream(file))))) {
      const { thingId, name, record } = partsOf(line)
      const target = await targets.idFor({ thingId, name })
      expected.add(target, record)
      yield { line: line.line, records: [record], thingId: target }
    }
  }
  const done = await load(source, {
    client,
    flags: {},
    state,
    salt: '',
    progress,
    onBatch: ({ records }) => progress.show(() => `${grouped(records)} records`),
  })
  progress.clear()
  const { resources, missing } = await expected.compare(client)
  await state.remove()
  if (missing.length > 0) {
    const lines = missing.map(
      ({ thingId, key, expected, stored }) => `${thingId} ${key}: ${stored} of ${expected} records`,
    )
    throw failure(
      'the server has fewer records than the file: were records deleted meanwhile? Import the file again',
      lines,
    )
  }
  const { records, before } = done
  const made = targets.made === 0 ? '' : `, ${counted(targets.made, 'thing')} created`
  const text = `${counted(records, 'record')} in ${counted(resources, 'resource')} are stored${made}`
  await printResult(flags, { records, before, resources, thingsMade: targets.made }, text)
}

/** Yields the chunks unchanged. @throws CommandError failed if the file is a backup */
async function* exportIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isBegin = true
  for await (const chunk of chunks) {
    if (isBegin && chunk.toString('latin1', 0, 17) === 'thingwire backup ')
      throw failure('the file is a backup of a store, which thingwire restore reads')
    isBegin = false
    yield chunk
  }
}

/** Splits a line of an export. @throws CommandError failed, naming the line, if it is not a line of an export */
function partsOf(read: JsonLine): { thingId: string; name: string; record: WrittenRecord } {
  const fields: Partial<ExportedRecord> = read.fields ?? {}
  const { thingId, name, key, value, geo, datetime } = fields
  const isNamed = typeof thingId === 'string' && typeof name === 'string' && typeof key === 'string'
  // A record without a time would get the time of the import.
  if (!isNamed || typeof datetime !== 'string') {
    const form = 'it must be {"thingId","name","key","value","datetime"}, as thingwire export writes it'
    throw failure(`line ${read.line} is not a line of an export: ${form}`)
  }
  return { thingId, name, record: { key, value, ...(geo ? { geo } : {}), datetime } }
}
