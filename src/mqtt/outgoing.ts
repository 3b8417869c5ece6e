import type { LiveWrite } from '../live/index.ts'
import { payloadOf } from './missed.ts'
import type { RetainedDelivery } from './retained-delivery.ts'
import { valuesTopic, wholeTopic } from './topics.ts'
import type { Position } from './unacked.ts'

/** A message on its way to a client; its topic is spelled when it leaves. */
export interface Outgoing {
  readonly thingId: string
  /** @param ref how the client spells the thing */
  readonly topic: (ref: string) => string
  readonly payload: Buffer
  readonly qos: 0 | 1
  /** Where it is kept; undefined: nowhere, so that it is not sent again after the connection. */
  readonly position?: Position
  /** Packet id under which it was sent before. */
  readonly messageId?: number | undefined
  /** Whether it may have been sent before. */
  readonly isDuplicate?: boolean
  /** `LiveWrite.committedAt`. */
  readonly committedAt?: number | undefined
  /** What it is a part of, if it is retained. */
  readonly retained?: RetainedDelivery
}

/** The message at a place of a write. */
export function messageAt(write: LiveWrite, place: number, qos: 0 | 1): Outgoing {
  const { thingId } = write.commit
  const key = write.keyAt(place)
  const topic = key === undefined ? wholeTopic : (ref: string) => valuesTopic(ref, key)
  return { thingId, topic, payload: payloadOf(write, place), qos, committedAt: write.committedAt }
}
