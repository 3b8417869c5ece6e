import { readLevelLog } from './level-log.ts'
import type { SystemCall } from './trace.ts'

const answer = 'HTTP/1.1 '
const acknowledgement = 'HTTP/1.1 201'

export interface AckOrder {
  /** Writes whose ack followed the fdatasync that covers them. */
  readonly covered: readonly string[]
  /** The others, each with what is wrong. */
  readonly violations: readonly string[]
}

/** The log that was traced; it must have been the same file all the time. */
export interface TracedLog {
  readonly path: string
  /** Its content at the end. */
  readonly bytes: Buffer
}

interface Ack {
  readonly marker: string
  /** When the write of the answer to its socket began. */
  readonly at: number
}

/**
 * Holds every ack of the trace against what must come before it: the request read from the same socket, the batch that
 * holds the write written to the log to its last byte, and an fdatasync of the log that began after that and succeeded.
 *
 * @param markers finds the marks of writes in a request or in a batch
 */
export function checkAckOrder(calls: readonly SystemCall[], log: TracedLog, markers: RegExp): AckOrder {
  const writtenAt = whenWritten(calls, log, markers)
  const syncs = calls.filter(
    ({ name, file, result }) => name === 'fdatasync' && file === log.path && result === 0,
  )
  const covered: string[] = []
  const violations: string[] = []
  for (const { marker, at } of acksIn(calls, markers)) {
    const written = writtenAt.get(marker)
    if (written === undefined) violations.push(`${marker}: not in the log`)
    else if (written > at) violations.push(`${marker}: acked before it was written`)
    else if (!syncs.some(({ began, ended }) => began > written && ended < at))
      violations.push(`${marker}: no fdatasync between its last byte and its ack`)
    else covered.push(marker)
  }
  return { covered, violations }
}

/** By marker, when the last byte of its batch was written to the log. */
function whenWritten(
  calls: readonly SystemCall[],
  log: TracedLog,
  markers: RegExp,
): ReadonlyMap<string, number> {
  const writes = calls.filter(({ name, file }) => name === 'write' && file === log.path)
  // What was there when the trace began is not in it.
  let offset = log.bytes.length - writes.reduce((sum, { result }) => sum + result, 0)
  const ends = writes.map(({ result, ended }) => {
    offset += result
    return { offset, ended }
  })
  const written = new Map<string, number>()
  for (const { payload, end } of readLevelLog(log.bytes).records) {
    const at = ends.find(({ offset }) => offset >= end)?.ended
    if (at === undefined) continue
    for (const marker of payload.toString('latin1').match(markers) ?? []) written.set(marker, at)
  }
  return written
}

/** Acks in the order of the trace; a socket carries one request at a time. */
function acksIn(calls: readonly SystemCall[], markers: RegExp): Ack[] {
  const received = new Map<string, string>()
  const acks: Ack[] = []
  for (const { name, file, bytes, began } of calls) {
    if (!file.startsWith('socket:')) continue
    const text = bytes.toString('latin1')
    if (name.startsWith('read') || name.startsWith('recv')) {
      received.set(file, (received.get(file) ?? '') + text)
    } else if (text.includes(answer)) {
      const [marker = 'an ack without a request'] = (received.get(file) ?? '').match(markers) ?? []
      if (text.includes(acknowledgement)) acks.push({ marker, at: began })
      received.delete(file)
    }
  }
  return acks
}
