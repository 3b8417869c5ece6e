import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { ServerClient } from '../client.ts'
import { connect } from '../connection.ts'
import { usageError } from '../exit.ts'
import { LoadState } from '../load/load-state.ts'
import { type LoadCounts, load } from '../load/loader.ts'
import { patiently } from '../load/patiently.ts'
import { findThing, type NamedThing } from '../named-thing.ts'
import { counted, grouped } from '../output.ts'
import { durationText, Progress } from '../progress.ts'
import { csvRecords } from '../records/csv.ts'
import { ndjsonRecords } from '../records/ndjson.ts'
import { decoded } from '../records/text.ts'
import { isDate } from '../records/time-of-day.ts'
import { type Flags, writeFlags } from './flags.ts'
import { tellResult } from './result.ts'

/** Writes the records of a file, or of stdin (`-`). */
export async function writeFile(named: string | undefined, file: string, flags: Flags): Promise<void> {
  const isStdin = file === '-'
  if (isStdin && process.stdin.isTTY) {
    throw usageError('give readings as key=value, a --file, or records on stdin')
  }
  if (isStdin && flags.credentialFile === '-')
    throw usageError('stdin can be either the credential or the records')
  if (flags.date !== undefined && !isDate(flags.date))
    throw usageError('--date must be a day such as 2026-11-21')
  const format = flags.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  if (format !== 'csv' && format !== 'ndjson') throw usageError('--format must be ndjson or csv')
  if (format === 'ndjson' && (flags.key ?? flags.date) !== undefined) {
    throw usageError('--key and --date are for CSV: add --format csv')
  }
  const size = isStdin ? undefined : await sizeOf(file)
  const client = await connect(flags, 'any')
  const thing = await patiently(() => findThing(client, named), {
    isExpected: true,
    isEndless: true,
    onWait: (why, seconds) => console.error(`${why}: again in ${seconds} s`),
  })
  const done = await loadFile({ client, thing, file, size, format, flags })
  const text = resultText(done, thing, { name: isStdin ? 'stdin' : basename(file), isStored: flags.store })
  await tellResult(thing, done, { text, json: flags.json })
}

/** How many of the records are new, the server does not say: what is told is what the file holds. */
function resultText(
  { records, before, refused }: LoadCounts,
  { thingId, name: thing }: NamedThing,
  { name, isStored }: { readonly name: string; readonly isStored: boolean },
): string {
  if (records + refused === 0) return `${name} contains no records`
  const did = !isStored ? 'sent to' : records === 1 ? 'is in' : 'are in'
  const resumed = before > 0 ? `, ${grouped(before)} of them from an earlier run` : ''
  return `${counted(records, 'record')} of ${name} ${did} ${thing || thingId}${resumed}`
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

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (!found.isDirectory()) return found.size
  } catch (error) {
    throw usageError(`cannot read ${file}: ${(error as Error).message}`)
  }
  throw usageError(`${file} is a directory`)
}
