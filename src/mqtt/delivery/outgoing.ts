import type { LiveWrite } from '../../live/index.ts'
import { payloadOf } from '../sessions/missed.ts'
import type { MessagePosition } from '../sessions/unacked.ts'
import { valuesTopic, wholeTopic } from '../topics.ts'

/** Several messages whose sending and acknowledgement are reported. */
export interface AckedParts {
  /** A part of it is sent under this packet id. */
  sent(messageId: number): void
  acked(messageId: number): void
}

/** A message on its way to a client; its topic is spelled when it leaves. */
export interface Outgoing {
  readonly thingId: string
  /** @param ref how the client spells the thing */
  readonly topic: (ref: string) => string
  readonly payload: Buffer
  readonly qos: 0 | 1
  /** Where it is kept; undefined: nowhere, so that it is not sent again after the connection. */
  readonly position?: MessagePosition
  /** Packet id under which it was sent before. */
  readonly messageId?: number | undefined
  /** Whether it may have been sent before. */
  readonly isDuplicate?: boolean
  /** `LiveWrite.committedAt`. */
  readonly committedAt?: number | undefined
  /** The payload is whole packets of the broker, which go as they are. */
  readonly isEncoded?: true
  /** Its sender waits for room before it sends more. */
  readonly isPaced?: boolean
  /** What it is a part of, if it is retained. */
  readonly retained?: AckedParts
}

/** The message at a place of a write. */
export function messageAt(write: LiveWrite, place: number, qos: 0 | 1): Outgoing {
  const { thingId } = write.commit
  const key = write.keyAt(place)
  const topic = key === undefined ? wholeTopic : (ref: string) => valuesTopic(ref, key)
  return { thingId, topic, payload: payloadOf(write, place), qos, committedAt: write.committedAt }
}
