import { type Reason, ThingwireError } from '../errors.ts'
import { promiseOf, settle, type Ticket } from './async/ticket.ts'
import type { Observer, WriteDoor, WriteOutcome } from './observer.ts'
import { type ParsedWrite, parseWrite, type WriteOptions, WriteRefused } from './parse.ts'
import type {
  Append,
  BackPressure,
  MagicRules,
  Receipt,
  RecordStore,
  RefusedWrites,
  WriteAnswer,
  WriteFormats,
  WriteLimits,
} from './ports.ts'
import { createDoorRefusals } from './refusals/door-refusals.ts'
import { Redactor } from './refusals/redactor.ts'
import { type Refusal, Refusals, type RefusedListener } from './refusals/refusals.ts'
import type { ReceiptClock } from './time/clock.ts'

/**
 * The path of every write, whichever door it enters by.
 *
 * ```
 *  error exit (HTTP, MQTT)               stage
 *
 *  429; late ack, or closed without ◄──  rate      limits the thing's writes and records per second (contract §9)
 *  4xx; acked, reported, dropped    ◄──  parse     every rule of contract §2, all or nothing
 *  answer of the first write        ◄──  repeat    a write id that the thing has used before
 *  429; closed without an ack       ◄──  room      writes wait while too many live messages wait
 *  429; acked, reported, dropped    ◄──  append    maximum number of resources per thing
 *  503; closed without an ack       ◄──            durable, numbered, in commit order
 *                                        answer    201, PUBACK, PUBREC
 *                                          ┆
 *                                        live      in commit order, independent of the answer: subscribers,
 *                                                  magic resources (`live/`, `magic/`)
 * ```
 */
export interface Ingest {
  /**
   * Takes one write. Resolves when all of its records are durable.
   *
   * @throws WriteRefused the content is invalid: nothing was stored, and the write is in the thing's list of refused writes
   * @throws ThingwireError `too_many_resources`: as for `WriteRefused`, nothing was stored and the write is listed
   * @throws ThingwireError `write_rate_exceeded`, `record_rate_exceeded`, `too_many_waiting`, `store_timeout`, `store_unavailable`,
   * `store_full`: the write is not acknowledged and should be sent again
   * @throws ThingwireError `unknown_thing`: the thing was removed while the write waited
   */
  write(request: WriteRequest): Promise<WriteAnswer>
  /**
   * Like `write`, for callers with many pending writes: settles the ticket instead of returning a promise. Only these errors are
   * thrown synchronously, so that the caller can hold back later writes:
   *
   * @throws ThingwireError `write_rate_exceeded`, `record_rate_exceeded`
   */
  submit(request: WriteRequest, ticket: Ticket<WriteAnswer>): void
  /**
   * Lists a write that its door refused (too large, not text) or dropped, and charges the thing for the write. A write that was
   * dropped because of the rate is not charged, and each thing has at most one such write listed per second. Never rejects.
   */
  noteRefused(refusal: Refusal): Promise<void>
  /**
   * Lists a rejected or closed connection of the thing, or what a source cannot read, among its refused writes; each cause at most
   * once a minute.
   */
  noteRejected(thingId: string, error: ThingwireError, door?: 'http' | 'mqtt'): void
  /** Call this when a door begins to close. Until the returned function is called, the rate limit delays no write. */
  drain(): () => void
  /** Calls `listener`, which must not throw, for every refused write of every door. @returns the unsubscribe function */
  onRefused(listener: RefusedListener): () => void
}

export interface WriteRequest {
  readonly thingId: string
  readonly door: 'http' | 'mqtt' | 'host'
  /** Set if the write is the will of an MQTT client; the metrics count wills separately. */
  readonly isWill?: true
  /** Set if the write was sent with the admin key. The rate limit applies to such a write only in a shared store (contract §9). */
  readonly isOperators?: true | undefined
  /** Set if a message of a source is the origin: past the rate of the thing the write is refused, so that it delays no other thing. */
  readonly isSources?: true
  /** JSON text in UTF-8 (contract §2), or what `format` reads. */
  readonly body: Uint8Array
  /** Name and levels, such as `value/cellar/temperature` (contract §2.4). */
  readonly format?: string | undefined
  /** The parsed body of a write by the host or a source. If present, `body` is only the text for the list of refused writes. */
  readonly content?: object
  readonly options: WriteOptions
  readonly documents?: Append['documents']
  readonly lock?: Append['lock']
  readonly sender?: Append['sender']
}

interface IngestParts {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly magic: MagicRules
  readonly formats: WriteFormats
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly live: BackPressure
  /** Whether several nodes share the store. If so, each node charges a thing for every commit, even for the operator's writes. */
  readonly isShared: boolean
  readonly limits: WriteLimits
  /** How long a write may wait for room, milliseconds. */
  readonly storeTimeout: number
  /** Redacts the entries of the list of refused writes. Default: a redactor without an admin key. */
  readonly redactor?: Redactor
  readonly observer?: Observer | undefined
}

const allTaken: WriteAnswer = {}

/** The reasons for which a plain write is refused if its body is meant for another format. */
const misread: ReadonlySet<Reason> = new Set(['invalid_json', 'invalid_body', 'invalid_values'])

export function createIngest(parts: IngestParts): Ingest {
  const { records, refused, magic, formats, clock, limits, isShared, observer } = parts
  const { rate } = limits
  const refusals = new Refusals(refused, parts.redactor ?? new Redactor())
  const room = new Room(parts.live, parts.storeTimeout)
  const outcomes: Outcomes = { kept, failed, refused: reportRefused }
  return {
    write: request => promiseOf(ticket => submit(request, ticket)),
    submit,
    ...createDoorRefusals(refusals, rate, clock, observer),
    onRefused: listener => refusals.onRefused(listener),
    drain: () => rate.drain(),
  }

  function submit(request: WriteRequest, ticket: Ticket<WriteAnswer>): void {
    const turn = enterRate(request)
    const parsed = parse(request)
    after(turn, new Writing(request, parsed, ticket, outcomes), inTurn)
  }

  function enterRate(request: WriteRequest): Promise<void> | undefined {
    if (!isCounted(request)) return undefined
    try {
      const { thingId, body } = request
      return rate.enter(request.isSources ? { thingId, door: 'http', body } : request)
    } catch (error) {
      reportRefused(request, error)
      throw error
    }
  }

  /** Exempts operators' writes unless the store is shared: an import would otherwise take as long as the original writes did. */
  function isCounted({ isOperators }: WriteRequest): boolean {
    return isShared || !isOperators
  }

  function parse(request: WriteRequest): ParsedWrite | WriteRefused {
    const { thingId, body, content = body, format, options } = request
    try {
      const read = format === undefined ? undefined : () => formats.read(format, body)
      const parsed = parseWrite(content, { options, now: clock.now(), magic, read })
      if (isCounted(request)) rate.charge(thingId, parsed.records.length)
      return parsed
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error
      return format === undefined && misread.has(error.reason) ? withAdvice(error, body) : error
    }
  }

  function withAdvice(error: WriteRefused, body: Uint8Array): WriteRefused {
    const path = formats.fitting(body)
    if (path === undefined) return error
    const message = `${error.message}. For a body like this, the address ends in /${path}`
    return new WriteRefused(new ThingwireError(error.reason, message), error.writeId)
  }

  function inTurn(writing: Writing): void {
    const { request, parsed } = writing
    // A refused dry run is also listed: "nothing is kept" (contract §3) only applies to records.
    if (parsed instanceof WriteRefused) writing.settle(refuse(request, parsed, parsed.writeId))
    else if (hasNoEffect(parsed)) writing.settle(dryRun(request, parsed))
    else after(room.wait(), writing, append)
  }

  function append(writing: Writing): void {
    const { thingId, documents, lock, sender } = writing.request
    const parsed = writing.parsed as ParsedWrite
    const { id, store, broadcast } = parsed
    const write = {
      thingId,
      records: parsed.records,
      store,
      broadcast,
      answer: answerTo(parsed),
      maximumResources: limits.options.resourcesPerThing,
      id,
      documents,
      lock,
      sender,
    }
    records.submit(write, writing)
  }

  function kept(request: WriteRequest, { store, records }: ParsedWrite, { writeNumber }: Receipt): void {
    const taken = store ? 'stored' : 'unstored'
    count(request, writeNumber === 0 ? 'repeated' : taken, records.length)
  }

  function failed(
    request: WriteRequest,
    id: string | undefined,
    error: unknown,
  ): Promise<WriteAnswer> | undefined {
    if (!(error instanceof ThingwireError) || error.reason !== 'too_many_resources') return undefined
    limits.count(error.reason)
    return refuse(request, error, id)
  }

  /** Stores nothing, not even the write id (contract §2.4, §3). */
  async function dryRun(request: WriteRequest, parsed: ParsedWrite): Promise<WriteAnswer> {
    const { id } = parsed
    const first = id === undefined ? undefined : await records.answerOf(request.thingId, id, clock.now())
    count(request, first ? 'repeated' : 'dry_run', parsed.records.length)
    return first ?? answerTo(parsed)
  }

  /** A repeated write gets the answer of the first write, even if the body is wrong this time (contract §4, resend (c)). */
  async function refuse(
    request: WriteRequest,
    error: ThingwireError,
    writeId: string | undefined,
  ): Promise<WriteAnswer> {
    const { thingId, door, body } = request
    const receivedAt = clock.now()
    const answered = writeId === undefined ? undefined : records.answerOf(thingId, writeId, receivedAt)
    const first = await refusals.note({ thingId, door, error, body, writeId }, receivedAt, answered)
    if (!first) throw error
    count(request, 'repeated', 0)
    return first
  }

  function count(request: WriteRequest, outcome: WriteOutcome, records: number): void {
    observer?.wrote(doorOf(request), outcome, records)
  }

  function reportRefused(request: WriteRequest, error: unknown): void {
    if (!(error instanceof ThingwireError)) return
    if (error.reason === 'too_many_waiting') limits.count(error.reason)
    observer?.refusedWrite(doorOf(request), error.reason)
  }
}

interface Outcomes {
  kept(request: WriteRequest, parsed: ParsedWrite, receipt: Receipt): void
  /** @returns undefined if the write fails with `error`; a promise if it may get the answer of an earlier write with the same id */
  failed(request: WriteRequest, id: string | undefined, error: unknown): Promise<WriteAnswer> | undefined
  refused(request: WriteRequest, error: unknown): void
}

/** A pending write, and the ticket for its receipt. A class takes less memory than closures if thousands of writes are pending. */
class Writing implements Ticket<Receipt> {
  readonly request: WriteRequest
  readonly parsed: ParsedWrite | WriteRefused
  readonly #ticket: Ticket<WriteAnswer>
  readonly #outcomes: Outcomes

  constructor(
    request: WriteRequest,
    parsed: ParsedWrite | WriteRefused,
    ticket: Ticket<WriteAnswer>,
    outcomes: Outcomes,
  ) {
    this.request = request
    this.parsed = parsed
    this.#ticket = ticket
    this.#outcomes = outcomes
  }

  resolve(receipt: Receipt): void {
    this.#ticket.resolve(receipt.answer)
    this.#outcomes.kept(this.request, this.parsed as ParsedWrite, receipt)
  }

  reject(error: unknown): void {
    const { parsed } = this
    const id = parsed instanceof WriteRefused ? parsed.writeId : parsed.id
    const answer = this.#outcomes.failed(this.request, id, error)
    if (answer) {
      this.settle(answer)
      return
    }
    // Rejects synchronously, so that the connection does not submit its next write as if this write were still pending.
    this.#outcomes.refused(this.request, error)
    this.#ticket.reject(error)
  }

  settle(answer: Promise<WriteAnswer>): void {
    answer.catch((error: unknown) => this.#outcomes.refused(this.request, error))
    settle(this.#ticket, answer)
  }
}

/** Runs the next step of a write; synchronously if there is nothing to wait for, since a promise costs more than a step. */
function after(waiting: Promise<void> | undefined, writing: Writing, step: (writing: Writing) => void): void {
  if (waiting) waiting.then(() => step(writing)).catch((error: unknown) => writing.reject(error))
  else step(writing)
}

/** Whether a write is a dry run, or a message such as `unavailable` without a reading. */
function hasNoEffect({ store, broadcast, records }: ParsedWrite): boolean {
  return records.length === 0 || (!store && !broadcast)
}

function doorOf({ door, isWill }: WriteRequest): WriteDoor {
  return isWill ? 'will' : door
}

function answerTo(parsed: ParsedWrite): WriteAnswer {
  return parsed.rejected.length === 0 ? allTaken : { rejected: parsed.rejected }
}

/** Makes writes wait while too many live messages are undelivered (contract §9). Refuses the writes after a timeout. */
export class Room {
  readonly #live: BackPressure
  readonly #timeout: number
  #room: Promise<void> | undefined
  #roomInTime: Promise<void> | undefined

  /** @param timeout milliseconds */
  constructor(live: BackPressure, timeout: number) {
    this.#live = live
    this.#timeout = timeout
  }

  /**
   * Resolves when writes may go on; undefined if they may go on now. After the timeout, the promise rejects with too_many_waiting
   * for all waiting writes at the same time, so that no write is stored after an earlier write of the same connection was refused.
   */
  wait(): Promise<void> | undefined {
    const room = this.#live.room()
    if (room && room !== this.#room) {
      this.#room = room
      this.#roomInTime = inTime(room, this.#timeout)
      // Without this handler, a rejection after the last write has stopped waiting would be unhandled.
      this.#roomInTime.catch(() => {})
    }
    return room && this.#roomInTime
  }
}

function inTime(room: Promise<void>, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new ThingwireError('too_many_waiting')), timeout)
    room.finally(() => clearTimeout(late)).then(resolve, reject)
  })
}
