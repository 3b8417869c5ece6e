import { hash } from 'node:crypto'
import type { FieldError } from '../../errors.ts'
import { RefusedError, type ServerClient } from '../client/client.ts'
import { counted } from '../output.ts'
import type { Progress } from '../progress.ts'
import { type Addressed, type Batch, batchesOf } from './batches.ts'
import { atBegin, type LoadPosition, type LoadState } from './load-state.ts'
import { faultText, folded, refusedLines } from './refused-lines.ts'
import { withRetry } from './with-retry.ts'

/** Members of the body of each write (contract §2, §3). */
export interface WriteFlags {
  readonly partial?: true | undefined
  readonly store?: false | undefined
  readonly broadcast?: false | undefined
}

interface LoadOptions {
  readonly client: ServerClient
  readonly flags: WriteFlags
  /** For lines from a file: how far earlier runs have got. If undefined, no lines are skipped. */
  readonly state: LoadState | undefined
  /** Makes the write ids of this run different from those of other runs; empty if the lines come from a file. */
  readonly salt: string
  readonly progress: Progress
  /** Called after each batch; `end` is the number of bytes of the file up to the end of the batch. */
  readonly onBatch: (done: LoadCounts, end: number) => void
}

export interface LoadCounts {
  /** Number of records that were accepted, in this run or in an earlier one. */
  readonly records: number
  /** How many of `records` were written by an earlier run. */
  readonly before: number
  /** Number of refused records and unreadable lines, which were left out. */
  readonly refused: number
}

/**
 * Writes lines in batches, one after another. If an acknowledgement is lost, this run or the next sends the batch again. The server
 * recognises the repeated batch by the datetimes of its records, or by a write id that is derived from all batches so far.
 *
 * @param source returns the lines from the first one on, each time it is called
 * @throws CommandError that names the refused lines: their batch is not written, but all earlier batches are
 */
export async function load(
  source: () => AsyncIterable<Addressed>,
  options: LoadOptions,
): Promise<LoadCounts> {
  await options.state?.read()
  const position = options.state?.position ?? atBegin
  const done = await loadFrom(position, source(), options)
  if (done) return done
  options.progress.say('the file has changed since the last run: writing it from its first line')
  return (await loadFrom(atBegin, source(), options)) ?? { records: 0, before: 0, refused: 0 }
}

/** @returns undefined if the lines up to `position` differ from those that an earlier run has written */
async function loadFrom(
  position: LoadPosition,
  source: AsyncIterable<Addressed>,
  options: LoadOptions,
): Promise<LoadCounts | undefined> {
  const { state, flags, salt, progress, onBatch } = options
  let chain = digest(JSON.stringify({ ...flags, salt }))
  let [batches, records, before, refused] = [0, 0, 0, position.refused]
  for await (const batch of batchesOf(source)) {
    batches++
    chain = digest(`${chain}${batch.thingId}[${batch.texts.join(',')}]`)
    records += batch.texts.length + batch.faults.length
    if (batches < position.batches) continue
    if (batches === position.batches) {
      if (chain !== position.chain) return undefined
      before = records - refused
      progress.say(`continuing after ${counted(before, 'record')} of an earlier run`)
      continue
    }
    refused += await sendBatch(batch, chain, { ...options, isFirst: batches === 1 })
    await state?.keep({ batches, chain, refused }).catch(() => {})
    onBatch({ records: records - refused, before, refused }, batch.end)
  }
  if (batches < position.batches) return undefined
  return { records: records - refused, before, refused }
}

/** @returns the number of records and lines of the batch that were refused and left out */
async function sendBatch(
  batch: Batch,
  chain: string,
  { client, flags, progress, isFirst }: LoadOptions & { readonly isFirst: boolean },
): Promise<number> {
  const { faults, texts, thingId } = batch
  const reasons = folded(faults.map(({ line, fault }) => ({ line, text: fault ? faultText(fault) : '' })))
  if (faults.length > 0 && !flags.partial) throw refusedLines(batch, reasons, isFirst)
  for (const text of reasons) progress.say(text)
  if (texts.length === 0) return faults.length
  const body = `${JSON.stringify({ ...idOf(batch, chain, flags), ...flags, values: [] }).slice(0, -2)}${texts.join(',')}]}`
  const post = () =>
    client.call<{ rejected?: FieldError[] }>(`/v2/things/${thingId}`, { method: 'POST', body })
  const onWait = (why: string, seconds: number) => progress.say(`${why}: again in ${seconds} s`)
  try {
    const { rejected = [] } = await withRetry(post, { isExpected: true, isEndless: true, onWait })
    for (const text of refusedTexts(batch, rejected)) progress.say(text)
    return faults.length + rejected.length
  } catch (error) {
    if (!(error instanceof RefusedError) || error.errors.length === 0) throw error
    const lines = refusedTexts(batch, error.errors)
    if (!flags.partial) throw refusedLines(batch, lines, isFirst)
    for (const line of lines) progress.say(line)
    return faults.length + texts.length
  }
}

/**
 * A write id, if the server could not recognise a repeated write by its records alone (contract §4). Otherwise no id is sent, so
 * that the same file can be written again after its records were deleted.
 */
function idOf({ records }: Batch, chain: string, { store }: WriteFlags): { id?: string } {
  const isKnownByContent = store !== false && records.every(({ datetime }) => (datetime ?? '') !== '')
  return isKnownByContent ? {} : { id: chain.slice(0, 24) }
}

function refusedTexts({ lines }: Batch, errors: readonly FieldError[]): string[] {
  return folded(
    errors.map(({ index, field, message, reason }) => {
      return { line: lines[index] ?? 0, text: faultText({ field, message: `${message} (${reason})` }) }
    }),
  )
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}
