import type { LiveWrite } from '../../live/index.ts'
import type { Codec } from '../packets/codec.ts'
import type { ConnectionClosed } from '../packets/outcomes.ts'
import type { WantedCopy } from '../sessions/interest.ts'
import { payloadOf } from '../sessions/missed.ts'
import type { MessagePosition } from '../sessions/unacked.ts'
import { valuesTopic, wholeTopic } from '../topics.ts'

/** A delivery of retained messages. Notified when one of its messages is sent or acknowledged. */
export interface AckedParts {
  sent(messageId: number): void
  acked(messageId: number): void
}

export interface Receiver {
  readonly codec: Pick<Codec, 'publish' | 'mostUnacked'>
  close(error: ConnectionClosed): void
  /** The next packet id, 1 to 65,535. */
  nextMessageId(): number
  /** The token or id that the client uses for a thing. */
  aliasOf(thingId: string): string
  /** `principalName` of the client, or a name unique to this connection. Different readers take turns reading the store. */
  readonly reader: string
  /** Whether the client may see a thing. @throws ThingwireError if the store is unavailable */
  maySee(thingId: string): Promise<boolean>
}

/** A message to a client. The topic is made when the message is sent. */
export interface Outgoing {
  readonly thingId: string
  /** @param ref the token or id that the client uses for the thing */
  readonly topic: (ref: string) => string
  readonly payload: Buffer
  readonly qos: 0 | 1
  /** Subscription identifier; absent or 0: none. */
  readonly identifier?: number
  /** Of the write that the message answers. */
  readonly correlationData?: Buffer | undefined
  /** Position in the commit log; undefined if the message is not sent again in a later connection. */
  readonly position?: MessagePosition
  /** Packet id under which the message was sent before. */
  readonly messageId?: number | undefined
  /** Whether the message may have been sent before. */
  readonly isDuplicate?: boolean
  /** See `LiveWrite.committedAt`. */
  readonly committedAt?: number | undefined
  /** Whether the payload consists of complete packets of the broker. */
  readonly isEncoded?: true
  /** Whether the sender waits for room before it sends more. */
  readonly isPaced?: boolean
  /** The delivery that a retained message belongs to. */
  readonly retained?: AckedParts
}

export function messageAt(write: LiveWrite, place: number, { qos, identifier }: WantedCopy): Outgoing {
  const { thingId } = write.commit
  const key = write.keyAt(place)
  const topic = key === undefined ? wholeTopic : (ref: string) => valuesTopic(ref, key)
  const { committedAt } = write
  return { thingId, topic, payload: payloadOf(write, place), qos, identifier, committedAt }
}
