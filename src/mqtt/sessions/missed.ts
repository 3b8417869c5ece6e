import type { Commit } from '../../core/ports.ts'
import { LiveWrite, type LogKeeper } from '../../live/index.ts'
import { wantedCopies } from './interest.ts'
import type { MqttSession } from './session.ts'
import { type MessagePosition, placeOfCopy } from './unacked.ts'

/** Maximum number of missed messages that a session gets, and maximum bytes of their payloads (contract §7.4). */
export const maximumMissed = { messages: 1_000, bytes: 1024 * 1024 }

interface OwedMessage {
  readonly write: LiveWrite
  /** Place of the message in the write. */
  readonly place: number
  readonly identifier: number
  readonly position: MessagePosition
  /** Packet id under which the message was sent before; undefined if it was not sent, or the id is lost. */
  readonly messageId: number | undefined
  /** Whether the message may have been sent before. */
  readonly isDuplicate: boolean
}

/**
 * The messages that a session is owed up to and including a write number, in order; if there are too many, only the newest.
 *
 * @returns the messages, and the number of dropped messages
 * @throws ThingwireError if the store fails
 */
export async function findMissed(
  log: LogKeeper,
  { interests, unacked, maybeSent }: MqttSession,
  upTo: number,
): Promise<{ readonly messages: readonly OwedMessage[]; readonly dropped: number }> {
  const newestFirst: OwedMessage[] = []
  const isSent = (messageId: number | undefined, { writeNumber }: Commit) =>
    messageId !== undefined || writeNumber <= maybeSent
  let bytes = 0
  let dropped = 0
  if (interests.size === 0) return { messages: newestFirst, dropped }
  const after = Math.max(0, unacked.acked.writeNumber - 1)
  const isOf = (thingId: string) => interests.covers(thingId)
  for await (const commit of log.read({ after, before: upTo + 1, order: 'desc', isOf })) {
    if (!commit.broadcast) continue
    const write = new LiveWrite(commit)
    const interest = interests.missedOf(write)
    for (let place = write.wholePlace; place >= 0; place--) {
      for (const { identifier } of wantedCopies(write, place, interest).toReversed()) {
        const position = { writeNumber: commit.writeNumber, place: placeOfCopy(place, identifier) }
        const owed = unacked.owed(position)
        if (!owed) continue
        const isDuplicate = isSent(owed.messageId, commit)
        if (dropped === 0) bytes += payloadOf(write, place).length
        if (newestFirst.length === maximumMissed.messages || bytes > maximumMissed.bytes) dropped++
        else newestFirst.push({ write, place, identifier, position, ...owed, isDuplicate })
      }
    }
  }
  return { messages: newestFirst.reverse(), dropped }
}

export function payloadOf(write: LiveWrite, place: number): Buffer {
  return place === write.wholePlace ? write.whole() : write.value(place)
}
