import { ThingwireError } from '../errors.ts'
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
  WriteLimits,
} from './ports.ts'
import { createDoorRefusals } from './refusals/door-refusals.ts'
import { Redactor } from './refusals/redactor.ts'
import { type Refusal, Refusals, type RefusedListener } from './refusals/refusals.ts'
import type { ReceiptClock } from './time/clock.ts'

/**
 * The one way in, whichever door a write came through.
 *
 * ```
 *  error exit (HTTP, MQTT)               stage
 *
 *  429; late, closed without an ack ◄──  rate      as much as the thing may write in a time (contract §9)
 *  4xx; acked, reported, dropped    ◄──  parse     every rule of contract §2, all or nothing
 *  answer of the first write        ◄──  repeat    a write id that was taken before
 *  429; closed without an ack       ◄──  room      while too many live messages wait, writes do too
 *  429; acked, reported, dropped    ◄──  append    no more resources than the thing may have
 *  503; closed without an ack       ◄──            durable, numbered, in commit order
 *                                        answer    201, PUBACK, PUBREC
 *                                          ┆
 *                                        live      in commit order, off the way of the answer: subscribers,
 *                                                  magic resources (`live/`, `magic/`)
 * ```
 */
export interface Ingest {
  /**
   * Takes one write. When it resolves, every record of the write is durable.
   *
   * @throws WriteRefused for its content: nothing of it was kept, and it is among the thing's refused writes
   * @throws ThingwireError `too_many_resources`: likewise
   * @throws ThingwireError `write_rate_exceeded`, `record_rate_exceeded`, `too_many_waiting`, `store_timeout`,
   * `store_unavailable`, `store_full`: not acknowledged, to be sent again
   * @throws ThingwireError `unknown_thing`: the thing was removed while the write waited
   */
  write(request: WriteRequest): Promise<WriteAnswer>
  /**
   * The same for whoever has many under way: settles the ticket. What its rate refuses is thrown at once, and the ticket left as it
   * is, so that the caller can hold back what comes behind it.
   *
   * @throws ThingwireError `write_rate_exceeded`, `record_rate_exceeded`
   */
  submit(request: WriteRequest, ticket: Ticket<WriteAnswer>): void
  /**
   * Notes a write that its door refused (too large, no text) or dropped among the thing's refused writes: it costs the
   * thing as much as a write. Of those that were dropped for the rate of the thing, one a second is noted. Never rejects.
   */
  noteRefused(refusal: Refusal): Promise<void>
  /** Lists why a connection of the thing was rejected or closed, among its refused writes; once a minute for each cause. */
  noteRejected(thingId: string, error: ThingwireError): void
  /** Lets writes that wait for their rate go on, and later ones pass, while a door closes. Returns how to end this. */
  drain(): () => void
  /** Calls `listener` for every refused write of either door; it must not throw. Returns how to stop. */
  onRefused(listener: RefusedListener): () => void
}

export interface WriteRequest {
  readonly thingId: string
  readonly door: 'http' | 'mqtt' | 'host'
  /** Of an MQTT client that is gone: counted apart. */
  readonly isWill?: true
  /** Written with the admin key: one node alone holds it to no rate (contract §9). */
  readonly isOperators?: true | undefined
  /** JSON text, UTF-8; see contract §2. */
  readonly body: Uint8Array
  /** Content of the body, where a program of this process has made it: `body` is then its text for people alone. */
  readonly content?: object
  readonly options: WriteOptions
  /** To be put in the same commit if the write has any effect: what the door must not forget once it has acked. */
  readonly documents?: Append['documents']
  /** In whose name it is: refused with `LockLost` if that is not held any more when it is stored. */
  readonly lock?: Append['lock']
  /** The connection that it came over (contract 4.3). */
  readonly sender?: Append['sender']
}

interface IngestParts {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly magic: MagicRules
  readonly clock: Pick<ReceiptClock, 'now'>
  /** Whoever sends on what is committed. */
  readonly live: BackPressure
  /** Whether other nodes commit to the store, too: they count each commit of a thing, whoever wrote it. */
  readonly isShared: boolean
  readonly limits: WriteLimits
  /** How long a write may wait for room, milliseconds. */
  readonly storeTimeout: number
  /** For what is kept of refused writes. Default: one that knows no admin key. */
  readonly redactor?: Redactor
  /** Called with what becomes of each write. */
  readonly observer?: Observer | undefined
}

const allTaken: WriteAnswer = {}

export function createIngest(parts: IngestParts): Ingest {
  const { records, refused, magic, clock, limits, isShared, observer } = parts
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
      return rate.enter(request)
    } catch (error) {
      reportRefused(request, error)
      throw error
    }
  }

  /** An import in the operator's own name would otherwise take as long as the thing took to write it. */
  function isCounted({ isOperators }: WriteRequest): boolean {
    return isShared || !isOperators
  }

  function parse(request: WriteRequest): ParsedWrite | WriteRefused {
    const { thingId, body, content = body, options } = request
    try {
      const parsed = parseWrite(content, { options, now: clock.now(), magic })
      if (isCounted(request)) rate.charge(thingId, parsed.records.length)
      return parsed
    } catch (error) {
      if (error instanceof WriteRefused) return error
      throw error
    }
  }

  function inTurn(writing: Writing): void {
    const { request, parsed } = writing
    // Dry runs too: "nothing is kept" (contract §3) speaks of records.
    if (parsed instanceof WriteRefused) writing.settle(refuse(request, parsed, parsed.writeId))
    else if (isDryRun(parsed)) writing.settle(dryRun(request, parsed))
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

  /** Nothing is kept, not even the write id. */
  async function dryRun(request: WriteRequest, parsed: ParsedWrite): Promise<WriteAnswer> {
    const { id } = parsed
    const first = id === undefined ? undefined : await records.answerOf(request.thingId, id, clock.now())
    count(request, first ? 'repeated' : 'dry_run', parsed.records.length)
    return first ?? answerTo(parsed)
  }

  /** A repeat is answered like the first write, whatever its body says now (contract §4, resend (c)). */
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

/** What a write may come to. */
interface Outcomes {
  kept(request: WriteRequest, parsed: ParsedWrite, receipt: Receipt): void
  /** @returns undefined: it has failed for whoever has sent it */
  failed(request: WriteRequest, id: string | undefined, error: unknown): Promise<WriteAnswer> | undefined
  refused(request: WriteRequest, error: unknown): void
}

/**
 * A write on its way, which waits for its receipt in the end. Of a class: of thousands under way, closures would keep a context
 * each.
 */
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
    // At once: what comes next over the same connection must not be handed in as if this was still under way.
    this.#outcomes.refused(this.request, error)
    this.#ticket.reject(error)
  }

  settle(answer: Promise<WriteAnswer>): void {
    answer.catch((error: unknown) => this.#outcomes.refused(this.request, error))
    settle(this.#ticket, answer)
  }
}

/** The next step: at once where nothing has to be waited for, since promises would cost more than all that the steps do. */
function after(waiting: Promise<void> | undefined, writing: Writing, step: (writing: Writing) => void): void {
  if (waiting) waiting.then(() => step(writing)).catch((error: unknown) => writing.reject(error))
  else step(writing)
}

function doorOf({ door, isWill }: WriteRequest): WriteDoor {
  return isWill ? 'will' : door
}

/** Both flags off (contract §3). */
function isDryRun({ store, broadcast }: ParsedWrite): boolean {
  return !store && !broadcast
}

function answerTo(parsed: ParsedWrite): WriteAnswer {
  return parsed.rejected.length === 0 ? allTaken : { rejected: parsed.rejected }
}

/** What writes wait for while too many live messages wait to be sent (contract §9), and not for ever. */
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
   * Resolves when writes may go on; undefined: they may now. Rejects with too_many_waiting when they have had to wait for
   * too long: all at one time, so that of one connection none goes on behind one that did not.
   */
  wait(): Promise<void> | undefined {
    const room = this.#live.room()
    if (room && room !== this.#room) {
      this.#room = room
      this.#roomInTime = inTime(room, this.#timeout)
      // It may be late for nobody.
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
