import type { LiveWrite } from '../../live/index.ts'
import { payloadOf } from '../sessions/missed.ts'
import type { MessagePosition } from '../sessions/unacked.ts'
import { valuesTopic, wholeTopic } from '../topics.ts'

/** Notified when its messages are sent and acknowledged. */
export interface AckedParts {
  sent(messageId: number): void
  acked(messageId: number): void
}

/** A message to a client; the topic is made when the message leaves. */
export interface Outgoing {
  readonly thingId: string
  /** @param ref the client's spelling of the thing */
  readonly topic: (ref: string) => string
  readonly payload: Buffer
  readonly qos: 0 | 1
  /** Position in the commit log; undefined: the message is not sent again in a later connection. */
  readonly position?: MessagePosition
  /** Packet id under which it was sent before. */
  readonly messageId?: number | undefined
  /** Whether it may have been sent before. */
  readonly isDuplicate?: boolean
  /** `LiveWrite.committedAt`. */
  readonly committedAt?: number | undefined
  /** The payload is complete packets of the broker. */
  readonly isEncoded?: true
  /** The sender waits for room before it sends more. */
  readonly isPaced?: boolean
  /** The delivery that a retained message belongs to. */
  readonly retained?: AckedParts
}

export function messageAt(write: LiveWrite, place: number, qos: 0 | 1): Outgoing {
  const { thingId } = write.commit
  const key = write.keyAt(place)
  const topic = key === undefined ? wholeTopic : (ref: string) => valuesTopic(ref, key)
  return { thingId, topic, payload: payloadOf(write, place), qos, committedAt: write.committedAt }
}
