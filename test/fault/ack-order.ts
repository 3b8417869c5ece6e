import { readBatch } from './level-batch.ts'
import { readLevelLog } from './level-log.ts'
import { type SentAck, sentAcks } from './sent-acks.ts'
import type { SystemCall } from './trace.ts'

/** Of the documents that hold packet ids, see docs/reference/storage.md. */
const packetIdKeys = 'omqtt-in-flight/'

export interface AckOrder {
  /** Writes whose ack followed the fdatasync that covers them. */
  readonly covered: readonly string[]
  /** Writes whose PUBCOMP followed the fdatasync that covers the removal of their packet id. */
  readonly completed: readonly string[]
  /** The others, each with what is wrong. */
  readonly violations: readonly string[]
}

/** The log that was traced; it must have been the same file all the time. */
export interface TracedLog {
  readonly path: string
  /** Its content at the end. */
  readonly bytes: Buffer
}

/**
 * Compares every ack of the trace with what must come before it: the request read from the same socket, the batch that
 * holds the write written to the log to its last byte, and an fdatasync of the log that began after that and succeeded;
 * for PUBCOMP of a persistent session the batch that removes the packet id. PUBACK and PUBREC must leave in the order
 * of the PUBLISHes.
 *
 * @param markers finds the marks of writes in a request or in a batch
 */
export function checkAckOrder(calls: readonly SystemCall[], log: TracedLog, markers: RegExp): AckOrder {
  const isOfLog = ({ file }: SystemCall) => file === log.path
  const written = new WrittenLog(calls.filter(isOfLog), log, markers)
  const syncs = calls.filter(call => isOfLog(call) && call.name === 'fdatasync' && call.result === 0)
  const { acks, violations } = sentAcks(calls, markers)
  const covered: string[] = []
  const completed: string[] = []
  for (const ack of acks) {
    const { marker, at, kind } = ack
    const writtenAt = written.before(ack)
    if (writtenAt === undefined) violations.push(`${marker}, ${kind}: not in the log before it`)
    else if (!syncs.some(({ began, ended }) => began > writtenAt && ended < at))
      violations.push(`${marker}, ${kind}: no fdatasync between the last byte in the log and it`)
    else if (kind === 'PUBCOMP') completed.push(marker)
    else covered.push(marker)
  }
  return { covered, completed, violations }
}

/** When what was written to the log. */
class WrittenLog {
  readonly #writtenAt = new Map<string, number>()
  /** By client id and packet id, times in order. */
  readonly #removedAt = new Map<string, number[]>()

  constructor(calls: readonly SystemCall[], log: TracedLog, markers: RegExp) {
    const writes = calls.filter(({ name }) => name === 'write')
    // What was there when the trace began is not in it, nor what was packed when it had ended.
    let offset = writes[0] ? log.bytes.indexOf(writes[0].bytes) : 0
    if (offset < 0) throw new Error(`${log.path} does not hold what was written to it under the trace`)
    const ends = writes.map(({ result, ended }) => {
      offset += result
      return { offset, ended }
    })
    for (const { payload, end } of readLevelLog(log.bytes).records) {
      const at = ends.find(({ offset }) => offset >= end)?.ended
      if (at === undefined) continue
      for (const marker of payload.toString('latin1').match(markers) ?? []) {
        // What is packed later is written once more.
        if (!this.#writtenAt.has(marker)) this.#writtenAt.set(marker, at)
      }
      for (const name of removedPacketIds(payload)) {
        this.#removedAt.set(name, [...(this.#removedAt.get(name) ?? []), at])
      }
    }
  }

  /** When the last byte was written of the batch that must come before the ack; undefined if that was not before it. */
  before({ kind, marker, clientId, messageId, receivedAt, at }: SentAck): number | undefined {
    const times =
      kind === 'PUBCOMP'
        ? this.#removedAt.get(`${clientId}/${messageId}`)?.filter(time => time > receivedAt)
        : [this.#writtenAt.get(marker) ?? Infinity]
    return times?.find(time => time < at)
  }
}

/** The packet ids that a batch removes from what persistent sessions hold, each as `<client id>/<packet id>`. */
function removedPacketIds(payload: Buffer): string[] {
  return readBatch(payload)
    .filter(({ key, value }) => value === undefined && key.startsWith(packetIdKeys))
    .map(({ key }) => key.replace(/^.*(device-\d+-\d+)\/(\d+)$/, '$1/$2'))
}
