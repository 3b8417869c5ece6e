import type { Clock } from './clock.ts'
import { type ParsedWrite, parseWrite, type WriteOptions, WriteRefused } from './parse.ts'
import type { Append, Follow, MagicRules, RecordStore, RefusedWrites, WriteAnswer } from './ports.ts'
import { type Refusal, Refusals, type RefusedListener } from './refusals.ts'

/**
 * The one way in, whichever door a write came through.
 *
 * ```
 *  error exit (HTTP, MQTT)               stage
 *
 *                                        receive   a receipt time that never goes back
 *  4xx; acked, reported, dropped    ◄──  parse     every rule of contract §2, all or nothing
 *  answer of the first write        ◄──  repeat    a write id that was taken before
 *                                        room      while too many live messages wait, writes do too
 *  503; closed without an ack       ◄──  append    durable, numbered, in commit order
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
   * @throws ThingwireError `store_timeout`, `store_unavailable`, `store_full`: not acknowledged, to be sent again
   */
  write(request: WriteRequest): Promise<WriteAnswer>
  /** Notes a write that its door refused (too large, no text) among the thing's refused writes. Never rejects. */
  noteRefused(refusal: Refusal): Promise<void>
  /** Calls `listener` for every refused write of either door; it must not throw. Returns how to stop. */
  onRefused(listener: RefusedListener): () => void
}

export interface WriteRequest {
  readonly thingId: string
  readonly door: 'http' | 'mqtt'
  /** JSON text, UTF-8; see contract §2. */
  readonly body: Uint8Array
  readonly options: WriteOptions
  /** To be put in the same commit if the write has any effect: what the door must not forget once it has acked. */
  readonly documents?: Append['documents']
}

export interface IngestParts {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly magic: MagicRules
  readonly clock: Clock
  /** Whoever sends on what is committed. */
  readonly live: Follow
}

export function createIngest({ records, refused, magic, clock, live }: IngestParts): Ingest {
  const refusals = new Refusals(refused)
  return {
    write,
    noteRefused: async refusal => void (await refusals.note(refusal, clock.receive())),
    onRefused: listener => refusals.onRefused(listener),
  }

  async function write(request: WriteRequest): Promise<WriteAnswer> {
    const receivedAt = clock.receive()
    let parsed: ParsedWrite
    try {
      parsed = parseWrite(request.body, {
        options: request.options,
        receivedAt,
        clockBehind: clock.isBehind(),
        magic,
      })
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error
      return await refuse(request, receivedAt, error)
    }
    if (!parsed.store && !parsed.broadcast) return await dryRun(request, receivedAt, parsed)
    return await append(request, receivedAt, parsed)
  }

  async function append(
    { thingId, documents }: WriteRequest,
    receivedAt: number,
    parsed: ParsedWrite,
  ): Promise<WriteAnswer> {
    const { id, store, broadcast } = parsed
    const room = live.room()
    if (room) await room
    const receipt = await records.append({
      thingId,
      records: parsed.records,
      store,
      broadcast,
      receivedAt,
      answer: answerTo(parsed),
      ...(id === undefined ? {} : { id }),
      ...(documents === undefined ? {} : { documents }),
    })
    return receipt.answer
  }

  /** Both flags off: nothing is kept, not even the write id (contract §3). */
  async function dryRun(
    { thingId }: WriteRequest,
    receivedAt: number,
    parsed: ParsedWrite,
  ): Promise<WriteAnswer> {
    const first = parsed.id === undefined ? undefined : await records.answerOf(thingId, parsed.id, receivedAt)
    return first ?? answerTo(parsed)
  }

  /** A repeat is answered like the first write, whatever its body says now (contract §4, resend (c)). */
  async function refuse(
    request: WriteRequest,
    receivedAt: number,
    error: WriteRefused,
  ): Promise<WriteAnswer> {
    const { thingId, door, body } = request
    const { writeId } = error
    const answered = writeId === undefined ? undefined : records.answerOf(thingId, writeId, receivedAt)
    const first = await refusals.note({ thingId, door, error, body, writeId }, receivedAt, answered)
    if (first) return first
    throw error
  }
}

function answerTo(parsed: ParsedWrite): WriteAnswer {
  return parsed.rejected.length === 0 ? {} : { rejected: parsed.rejected }
}
