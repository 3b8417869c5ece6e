import { ThingwireError } from '../errors.ts'
import { promiseOf, settle, type Ticket } from './async/ticket.ts'
import type { ReceiptClock } from './clock.ts'
import type { Observer, WriteDoor, WriteOutcome } from './observer.ts'
import { type ParsedWrite, parseWrite, type WriteOptions, WriteRefused } from './parse.ts'
import type {
  Append,
  Follow,
  MagicRules,
  Receipt,
  RecordStore,
  RefusedWrites,
  WriteAnswer,
  WriteLimits,
} from './ports.ts'
import { Redactor } from './refusals/redactor.ts'
import { type Refusal, Refusals, type RefusedListener } from './refusals/refusals.ts'
import { TurnedAway } from './refusals/turned-away.ts'
import { Room } from './room.ts'

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
  /** Lists why a connection of the thing was turned away, among its refused writes; once a minute for each cause. */
  noteTurnedAway(thingId: string, error: ThingwireError): void
  /** For a door that closes: no write waits for the rate of its thing until what is returned is called. */
  hurry(): () => void
  /** Calls `listener` for every refused write of either door; it must not throw. Returns how to stop. */
  onRefused(listener: RefusedListener): () => void
}

export interface WriteRequest {
  readonly thingId: string
  readonly door: 'http' | 'mqtt'
  /** Of an MQTT client that is gone: counted apart. */
  readonly isWill?: true
  /** JSON text, UTF-8; see contract §2. */
  readonly body: Uint8Array
  readonly options: WriteOptions
  /** To be put in the same commit if the write has any effect: what the door must not forget once it has acked. */
  readonly documents?: Append['documents']
  /** In whose name it is: refused with `HoldLost` if that is not held any more when it is stored. */
  readonly hold?: Append['hold']
}

export interface IngestParts {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly magic: MagicRules
  readonly clock: Pick<ReceiptClock, 'now'>
  /** Whoever sends on what is committed. */
  readonly live: Follow
  readonly limits: WriteLimits
  /** How long a write may wait for room, milliseconds. */
  readonly storeTimeout: number
  /** For what is kept of refused writes. Default: one that knows no admin key. */
  readonly redactor?: Redactor
  /** Told what becomes of each write. */
  readonly observer?: Observer | undefined
}

const noBody = new Uint8Array()
const allTaken: WriteAnswer = {}

export function createIngest(parts: IngestParts): Ingest {
  const { records, refused, magic, clock, limits, observer } = parts
  const { rate } = limits
  const refusals = new Refusals(refused, parts.redactor ?? new Redactor())
  const turnedAway = new TurnedAway((thingId, error, count) => {
    const refusal = { thingId, door: 'mqtt', error, ...(count > 1 && { count }) } as const
    void refusals.note(refusal, clock.now()).catch(() => {})
  })
  const room = new Room(parts.live, parts.storeTimeout)
  const outcomes: Outcomes = {
    kept,
    failed: (request, ...failure) => observed(request, failed(request, ...failure)),
  }
  return {
    write: request => promiseOf(ticket => submit(request, ticket)),
    submit,
    noteRefused,
    noteTurnedAway: (thingId, error) => turnedAway.tell(thingId, error),
    onRefused: listener => refusals.onRefused(listener),
    hurry: () => rate.hurry(),
  }

  /** Each step is taken at once where nothing has to be waited for: promises would cost more than all that they are for. */
  function submit(request: WriteRequest, ticket: Ticket<WriteAnswer>): undefined {
    try {
      const turn = rate.enter(request)
      const parsed = parse(request)
      if (parsed instanceof WriteRefused) {
        return settle(ticket, observed(request, refuseInTurn(request, parsed, turn)))
      }
      rate.charge(request.thingId, parsed.records.length)
      const hasToWait = turn || isDryRun(parsed) || room.wait()
      if (hasToWait) settle(ticket, writeInTurn(request, parsed, turn))
      else append(request, parsed, ticket)
    } catch (error) {
      tellRefused(request, error)
      throw error
    }
  }

  function parse({ body, options }: WriteRequest): ParsedWrite | WriteRefused {
    try {
      return parseWrite(body, { options, now: clock.now(), magic })
    } catch (error) {
      if (error instanceof WriteRefused) return error
      throw error
    }
  }

  /** Dry runs are noted too: "nothing is kept" (contract §3) speaks of records. */
  async function refuseInTurn(
    request: WriteRequest,
    refused: WriteRefused,
    turn: Promise<void> | undefined,
  ): Promise<WriteAnswer> {
    if (turn) await turn
    return await refuse(request, refused, refused.writeId)
  }

  async function writeInTurn(
    request: WriteRequest,
    parsed: ParsedWrite,
    turn: Promise<void> | undefined,
  ): Promise<WriteAnswer> {
    if (turn) await observed(request, turn)
    if (isDryRun(parsed)) return await observed(request, dryRun(request, parsed))
    const waiting = room.wait()
    if (waiting) await observed(request, waiting)
    return await promiseOf(ticket => append(request, parsed, ticket))
  }

  /** The promise, of which the observer is told if it rejects. */
  function observed<T>(request: WriteRequest, writing: Promise<T>): Promise<T> {
    writing.catch((error: unknown) => tellRefused(request, error))
    return writing
  }

  function tellRefused(request: WriteRequest, error: unknown): void {
    if (!(error instanceof ThingwireError)) return
    if (error.reason === 'too_many_waiting') limits.count(error.reason)
    observer?.refusedWrite(doorOf(request), error.reason)
  }

  async function noteRefused(refusal: Refusal): Promise<void> {
    // For its rate it was refused as a write before.
    if (!isRateExceeded(refusal.error)) observer?.refusedWrite(refusal.door, refusal.error.reason)
    const receivedAt = clock.now()
    try {
      const turn = pay(refusal)
      if (turn) await turn
    } catch {
      return
    }
    await refusals.note(refusal, receivedAt)
  }

  /** What is no write costs as much as one. @throws ThingwireError if it is not to be noted */
  function pay({ thingId, door, error, body = noBody }: Refusal): Promise<void> | undefined {
    if (door === 'magic') return undefined
    if (!isRateExceeded(error)) return rate.enter({ thingId, door, body })
    if (!rate.mayNote(thingId)) throw error
    return undefined
  }

  function append(request: WriteRequest, parsed: ParsedWrite, ticket: Ticket<WriteAnswer>): void {
    const { thingId, documents, hold } = request
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
      hold,
    }
    records.submit(write, new Appending(request, write, ticket, outcomes))
  }

  function kept(request: WriteRequest, { store, records }: Append, { writeNumber }: Receipt): void {
    const taken = store ? 'stored' : 'unstored'
    tell(request, writeNumber === 0 ? 'repeated' : taken, records.length)
  }

  async function failed(request: WriteRequest, write: Append, error: unknown): Promise<WriteAnswer> {
    if (!(error instanceof ThingwireError) || error.reason !== 'too_many_resources') throw error
    limits.count(error.reason)
    return await refuse(request, error, write.id)
  }

  /** Nothing is kept, not even the write id. */
  async function dryRun(request: WriteRequest, parsed: ParsedWrite): Promise<WriteAnswer> {
    const { id } = parsed
    const first = id === undefined ? undefined : await records.answerOf(request.thingId, id, clock.now())
    tell(request, first ? 'repeated' : 'dry_run', parsed.records.length)
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
    tell(request, 'repeated', 0)
    return first
  }

  function tell(request: WriteRequest, outcome: WriteOutcome, records: number): void {
    observer?.wrote(doorOf(request), outcome, records)
  }
}

/** What an append may come to. */
interface Outcomes {
  kept(request: WriteRequest, write: Append, receipt: Receipt): void
  failed(request: WriteRequest, write: Append, error: unknown): Promise<WriteAnswer>
}

/** An append that the store has. Of a class: of thousands under way, closures would keep a context each. */
class Appending implements Ticket<Receipt> {
  readonly #request: WriteRequest
  readonly #write: Append
  readonly #ticket: Ticket<WriteAnswer>
  readonly #outcomes: Outcomes

  constructor(request: WriteRequest, write: Append, ticket: Ticket<WriteAnswer>, outcomes: Outcomes) {
    this.#request = request
    this.#write = write
    this.#ticket = ticket
    this.#outcomes = outcomes
  }

  resolve(receipt: Receipt): void {
    this.#ticket.resolve(receipt.answer)
    this.#outcomes.kept(this.#request, this.#write, receipt)
  }

  reject(error: unknown): void {
    settle(this.#ticket, this.#outcomes.failed(this.#request, this.#write, error))
  }
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

/** Whether the thing has written more than it may. */
export function isRateExceeded({ reason }: ThingwireError): boolean {
  return reason === 'write_rate_exceeded' || reason === 'record_rate_exceeded'
}
