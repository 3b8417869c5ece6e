import { createHash } from 'node:crypto'
import { rest } from '../core/async/retry-until.ts'
import { sizeOf } from '../core/commit-outline.ts'
import type { RefusedRecord } from '../core/forward-report.ts'
import type { Commit } from '../core/ports.ts'
import { formatDatetime } from '../core/record/datetime.ts'
import type { AcceptedRecord } from '../core/record/record.ts'
import { type Connection, LinkDown, type Refusal, ThingHeld } from './connection.ts'
import type { ByteBudget, ConnectionUser, Link } from './link.ts'

interface FeedParts {
  readonly thingId: string
  readonly link: Link
  readonly budget: ByteBudget
  readonly stop: AbortSignal
  /** The thing's token at the central server, obtained by activation if necessary. @throws LinkDown, ThingHeld */
  readonly token: () => Promise<string>
  /** Called when all records of these commits are acknowledged or refused permanently. */
  readonly onPassed: (commits: readonly Commit[]) => void
  readonly onSent: (records: number, bytes: number) => void
  readonly onRefused: (refused: RefusedRecord) => void
  /** Called when the central server refuses the thing. The feed is then empty until `onFreed`. */
  readonly onHeld: (feed: Feed, why: string) => void
  readonly onFreed: (feed: Feed) => void
}

/** Maximum size of a write: it must fit in one commit of the central server, and a slow link must send it within the keep-alive. */
const largestBatch = { records: 1_000, bytes: 128 * 1024 }
const smallestBatch = { records: 1, bytes: 1_024 }
/** Pause after a refusal, milliseconds: the central server reports at most ten refusals a second (contract §7.2). */
const refusalPause = 150
/** Time until a thing that is held back is tried again, milliseconds. */
const holdTime = 30_000
/** Number of failed writes in a row after which a thing is held back, if the last had one record: a failure delays all things. */
const mostLosses = 8
/** How long a feed may keep its connection while other feeds wait for one, milliseconds. */
const fairTime = 2_000

/** The records of one thing that still have to be sent to the central server, in order. */
export class Feed implements ConnectionUser {
  readonly #parts: FeedParts
  #waiting: WaitingRecord[] = []
  #next = 0
  #bytes = 0
  /** Records in `#waiting` before this index are sent even if they do not fill a write. */
  #flushed = 0
  #limits = largestBatch
  /** Number of consecutive writes without an ack. */
  #losses = 0
  /** The newest write without an ack, if it is to be sent again unchanged. */
  #unanswered: Batch | undefined
  #connection: Connection | undefined
  #token: string | undefined
  #wake = () => {}
  #isSending = false
  /** Why the central server refuses the thing, and since when (milliseconds since 1970). */
  held: { readonly why: string; readonly since: number } | undefined
  /** Commits up to and including this write number were added. */
  filledTo: number
  /** Whether the feed was held back and is therefore filled separately from other feeds. */
  isBehind: boolean
  /** Whether the feed's position is stored separately. */
  isApart: boolean
  /** Receipt time of the oldest unforwarded commit that is not in the feed, milliseconds since 1970; undefined if unknown. */
  oldestElsewhere: number | undefined

  constructor(parts: FeedParts, filledTo: number, isBehind: boolean) {
    this.#parts = parts
    this.filledTo = filledTo
    this.isBehind = isBehind
    this.isApart = isBehind
  }

  get thingId(): string {
    return this.#parts.thingId
  }

  get isIdle(): boolean {
    return this.#next >= this.#waiting.length
  }

  /** Approximate bytes of the waiting records. */
  get bytes(): number {
    return this.#bytes
  }

  get oldest(): Commit | undefined {
    return this.#waiting[this.#next]?.commit
  }

  /** Call this in the order of the write numbers. Sends full writes; call `flush` to send the rest. */
  add(commit: Commit): void {
    if (commit.writeNumber <= this.filledTo) return
    this.filledTo = commit.writeNumber
    const last = commit.records.length - 1
    for (const [index, record] of commit.records.entries()) {
      this.#waiting.push({ commit, record, isLast: index === last })
    }
    this.#bytes += sizeOf(commit)
    if (this.#isDue) this.#wake()
  }

  /** Sends all waiting records. */
  flush(): void {
    this.#flushed = this.#waiting.length
    this.#wake()
  }

  get #isDue(): boolean {
    if (this.isIdle) return false
    const { records, bytes } = this.#limits
    const isFull = this.#waiting.length - this.#next >= records || this.#bytes >= bytes
    return isFull || this.#next < this.#flushed || this.#unanswered !== undefined
  }

  /** Drops unsent records up to and including a write number, unless a write is being sent. */
  cut(upTo: number): void {
    // The indexes of the records of a pending write must not change.
    if (this.#isSending) return
    this.#unanswered = undefined
    this.#waiting = this.#waiting.slice(this.#next).filter(({ commit }) => commit.writeNumber > upTo)
    this.#next = 0
    this.#flushed = this.#waiting.length
    const commits = new Set(this.#waiting.map(({ commit }) => commit))
    this.#bytes = [...commits].reduce((sum, commit) => sum + sizeOf(commit), 0)
  }

  /** Call this when the thing map has changed. @param token the thing's current token; undefined if none is known */
  useToken(token: string | undefined): void {
    if (token !== this.#token) this.#parts.link.release(this)
    this.#wake()
  }

  /** Makes the feed check again whether there is work. */
  wake(): void {
    this.#wake()
  }

  /** Sends records until `stop` is aborted. Never rejects. */
  async run(): Promise<void> {
    const { stop, link } = this.#parts
    while (!stop.aborted) {
      try {
        if (this.held) await this.#tryHeld()
        else if (!this.#isDue) await this.#change()
        else await this.#send(await this.#connected())
      } catch (error) {
        this.#isSending = false
        link.release(this)
        if (!(error instanceof LinkDown)) this.#hold((error as Error).message)
      }
    }
    link.release(this)
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection
    const { link, thingId, stop, token } = this.#parts
    link.release(this)
    this.#token = await token()
    this.#connection = await link.connect(this, this.#token, `forward.${thingId}`, stop)
    return this.#connection
  }

  async #send(connection: Connection): Promise<void> {
    const { stop, link, budget } = this.#parts
    const until = performance.now() + fairTime
    while (this.#isDue && connection.isOpen && !stop.aborted) {
      if (!connection.takesMeta && this.#omitMeta()) continue
      this.#isSending = true
      const { longestPayload } = connection
      const bytes = Math.max(smallestBatch.bytes, Math.min(this.#limits.bytes, budget.piece))
      const limits = { ...this.#limits, bytes: Math.min(bytes, longestPayload) }
      const batch = this.#unanswered ?? formBatch(this.#ahead(), limits)
      if (batch.payload.length > longestPayload) {
        this.#tooLarge(batch, longestPayload)
        this.#isSending = false
        continue
      }
      await budget.take(batch.payload.length, stop)
      if (stop.aborted) return
      const refusal = await connection.publish(batch.payload, batch.id).catch((error: Error) => {
        this.#lost(batch, error)
        throw error
      })
      link.acked()
      this.#losses = 0
      this.#unanswered = undefined
      if (refusal) await this.#refused(batch, refusal)
      else this.#accepted(batch)
      this.#isSending = false
      if (link.isCrowded && performance.now() > until) return link.release(this)
    }
  }

  #ahead(): readonly WaitingRecord[] {
    return this.#waiting.slice(this.#next, this.#next + this.#limits.records)
  }

  /** Omits `$meta` from the next write: the central server would list each as refused. @returns whether there was any */
  #omitMeta(): boolean {
    // What is sent again must stay the same.
    if (this.#unanswered) return false
    const descriptions = this.#ahead().filter(({ record }) => record.key === '$meta')
    for (const waiting of descriptions) this.#remove(waiting)
    return descriptions.length > 0
  }

  #accepted({ records, payload }: Batch): void {
    this.#limits = {
      records: Math.min(largestBatch.records, this.#limits.records * 2),
      bytes: Math.min(largestBatch.bytes, this.#limits.bytes * 2),
    }
    this.#next += records.length
    this.#passed(records.filter(({ isLast }) => isLast).map(({ commit }) => commit))
    this.#parts.onSent(records.length, payload.length)
    // Removing sent records copies the array, so it is done rarely.
    if (this.isIdle || this.#next > 10_000) {
      this.#waiting = this.#waiting.slice(this.#next)
      this.#flushed = Math.max(0, this.#flushed - this.#next)
      this.#next = 0
    }
  }

  /** Drops the only record, or the records that the refusal names. If it names none of several, the next write has half as many. */
  async #refused({ records }: Batch, { reason, message, errors = [] }: Refusal): Promise<void> {
    const blamed = new Map(errors.map(error => [error.index, error] as const))
    const [only] = records
    if (records.length === 1 && only) this.#drop(only, errors[0] ?? { reason, message })
    else if (![...blamed.keys()].some(index => records[index])) {
      this.#limits = { ...this.#limits, records: records.length >> 1 }
    } else {
      for (const [index, waiting] of records.entries()) {
        const error = blamed.get(index)
        if (error) this.#drop(waiting, error)
      }
    }
    await rest(refusalPause, this.#parts.stop)
  }

  /** Drops a single record that exceeds the limit of the central server. Several records are sent in smaller batches instead. */
  #tooLarge({ records, payload }: Batch, longest: number): void {
    this.#unanswered = undefined
    const [only] = records
    if (records.length > 1 || !only) return
    const message = `a write of this record takes ${payload.length} bytes, but maxPacketSize of the central server leaves room for only ${longest}`
    this.#drop(only, { reason: 'body_too_large', message })
  }

  #drop(
    waiting: WaitingRecord,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): void {
    const { key, datetime } = waiting.record
    this.#remove(waiting)
    this.#parts.onRefused({ thingId: this.thingId, key, datetime, reason, message, at: Date.now() })
  }

  #remove(waiting: WaitingRecord): void {
    const { commit, isLast } = waiting
    const place = this.#waiting.indexOf(waiting, this.#next)
    this.#waiting.splice(place, 1)
    if (!isLast) return
    const before = this.#waiting[place - 1]
    if (place > this.#next && before?.commit === commit)
      this.#waiting[place - 1] = { ...before, isLast: true }
    else this.#passed([commit])
  }

  #passed(commits: readonly Commit[]): void {
    for (const commit of commits) this.#bytes -= sizeOf(commit)
    this.#parts.onPassed(commits)
  }

  /** After one failure, the same write is sent again. After more failures, writes are smaller: large ones may break the link. */
  #lost(batch: Batch, error: Error): void {
    if (this.#parts.stop.aborted) return
    const { records, payload } = batch
    this.#losses++
    this.#unanswered = this.#losses === 1 ? batch : undefined
    if (this.#losses > 1) {
      this.#limits = {
        records: Math.max(smallestBatch.records, records.length >> 1),
        bytes: Math.max(smallestBatch.bytes, payload.length >> 1),
      }
    }
    if (this.#losses < mostLosses || records.length > 1) this.#parts.link.lost(error.message)
    else throw new ThingHeld(`it ends the connection at a write of ${payload.length} bytes: ${error.message}`)
  }

  #hold(why: string): void {
    if (this.#parts.stop.aborted) return
    const { receivedAt, writeNumber } = this.oldest ?? {}
    if (writeNumber !== undefined) this.filledTo = writeNumber - 1
    if (receivedAt !== undefined) this.oldestElsewhere = receivedAt
    this.#unanswered = undefined
    this.#waiting = []
    this.#next = 0
    this.#flushed = 0
    this.#bytes = 0
    const isNew = this.held?.why !== why
    this.held = { why, since: this.held?.since ?? Date.now() }
    this.isBehind = true
    this.isApart = true
    if (isNew) this.#parts.onHeld(this, why)
  }

  async #tryHeld(): Promise<void> {
    await Promise.race([this.#change(), rest(holdTime, this.#parts.stop)])
    if (this.#parts.stop.aborted) return
    await this.#connected()
    this.held = undefined
    this.#losses = 0
    this.#parts.onFreed(this)
  }

  #change(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }
}

export interface WaitingRecord {
  readonly commit: Commit
  readonly record: AcceptedRecord
  readonly isLast: boolean
}

/** Records of one thing that are sent in one write, in order. */
export interface Batch {
  readonly records: readonly WaitingRecord[]
  /** Write id, which a refusal repeats. */
  readonly id: string
  readonly payload: Buffer
}

/** Maximum number of bytes of a payload in addition to its records. */
const envelope = '{"id":"12345678901234567890","broadcast":false,"values":[]}'.length

/** Forms a write from the first records: those with the same `broadcast` flag that fit, at least one. @param waiting not empty */
export function formBatch(waiting: readonly WaitingRecord[], limits: typeof largestBatch): Batch {
  const { records, bytes } = limits
  const taken: WaitingRecord[] = []
  const texts: string[] = []
  let size = envelope
  const broadcast = waiting[0]?.commit.broadcast ?? true
  for (const each of waiting) {
    if (taken.length >= records || each.commit.broadcast !== broadcast) break
    const text = textOf(each.record)
    size += Buffer.byteLength(text) + 1
    if (taken.length > 0 && size > bytes) break
    taken.push(each)
    texts.push(text)
  }
  const values = texts.join(',')
  const id = idOf(taken, values)
  const flag = broadcast ? '' : ',"broadcast":false'
  return { records: taken, id, payload: Buffer.from(`{"id":"${id}"${flag},"values":[${values}]}`) }
}

/** JSON of the record as its sender wrote it, but always with a datetime. */
function textOf({ key, value, geo, written, datetime, datetimeText }: AcceptedRecord): string {
  const measured = written ?? { value, geo }
  const at = datetimeText ?? formatDatetime(datetime)
  const place = measured.geo ? `,"geo":${JSON.stringify(measured.geo)}` : ''
  return `{"key":${JSON.stringify(key)},"value":${measured.value}${place},"datetime":${JSON.stringify(at)}}`
}

/**
 * The write id: a digest of the content and its position in the log, so that only an identical write has the same id, even if
 * records are batched differently or a restored store repeats write numbers. The id has 20 characters, since a longer id could look
 * like a credential and be redacted in the refusal.
 */
function idOf(records: readonly WaitingRecord[], values: string): string {
  const [first] = records
  const from = `${first?.commit.writeNumber}.${first?.record.place}`
  return createHash('sha256').update(`${from} ${values}`).digest('base64url').slice(0, 20)
}
