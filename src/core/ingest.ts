import type { ThingwireError } from '../errors.ts'
import type { Clock } from './clock.ts'
import { excerpt, redact } from './excerpt.ts'
import { type ParsedWrite, parseWrite, type WriteOptions, WriteRefused } from './parse.ts'
import type { MagicRules, RecordStore, RefusedWrites, WriteAnswer } from './ports.ts'

/**
 * The one way in, whichever door a write came through.
 *
 * ```
 *  error exit (HTTP, MQTT)               stage
 *
 *                                        receive   a receipt time that never goes back
 *  4xx; acked, reported, dropped    ◄──  parse     every rule of contract §2, all or nothing
 *  answer of the first write        ◄──  repeat    a write id that was taken before
 *  503; closed without an ack       ◄──  append    durable, numbered, in commit order
 *                                        answer    201, PUBACK, PUBREC
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
}

export interface WriteRequest {
  readonly thingId: string
  readonly door: 'http' | 'mqtt'
  /** JSON text, UTF-8; see contract §2. */
  readonly body: Uint8Array
  readonly options: WriteOptions
}

export interface Refusal {
  readonly thingId: string
  readonly door: WriteRequest['door']
  readonly error: ThingwireError
  /** As far as there is one to show. */
  readonly body?: Uint8Array
  readonly writeId?: string | undefined
}

export interface IngestParts {
  readonly records: RecordStore
  readonly refused: RefusedWrites
  readonly magic: MagicRules
  readonly clock: Clock
}

export function createIngest({ records, refused, magic, clock }: IngestParts): Ingest {
  return { write, noteRefused: refusal => noteRefused(refusal, clock.receive()) }

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
    { thingId }: WriteRequest,
    receivedAt: number,
    parsed: ParsedWrite,
  ): Promise<WriteAnswer> {
    const { id, store, broadcast } = parsed
    const write = { thingId, records: parsed.records, store, broadcast, receivedAt, answer: answerTo(parsed) }
    const receipt = await records.append(id === undefined ? write : { ...write, id })
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
    const first = writeId === undefined ? undefined : await records.answerOf(thingId, writeId, receivedAt)
    if (first) return first
    await noteRefused({ thingId, door, error, body, writeId }, receivedAt)
    throw error
  }

  async function noteRefused(refusal: Refusal, receivedAt: number): Promise<void> {
    const { thingId, door, error, body, writeId } = refusal
    const { reason, message, errors } = error
    const entry = {
      datetime: receivedAt,
      door,
      reason,
      message,
      ...(errors ? { errors } : {}),
      ...(writeId === undefined ? {} : { id: redact(writeId) }),
      excerpt: body ? excerpt(body) : '',
    }
    // The refusal stands where it cannot be kept: told to try again, the device would never stop.
    await refused.add(thingId, entry).catch(() => {})
  }
}

function answerTo(parsed: ParsedWrite): WriteAnswer {
  return parsed.rejected.length === 0 ? {} : { rejected: parsed.rejected }
}
