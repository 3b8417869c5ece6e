import { hash } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import type { QoS } from '../packets/packet.ts'

/** `mqtt-sessions/<client id>`: the session of a client that may come back (../sessions/session-documents.ts). */
export const sessionPrefix = 'mqtt-sessions/'

// A client id may hold any character, and one may begin like another.
export const sessionName = (clientId: string) => `${sessionPrefix}${encodeURIComponent(clientId)}`

/** `topic-sessions/<client id>`: to what the session of a client that may come back is subscribed beside things. */
export type TopicSessionDocument = {
  readonly subscriptions: readonly TopicSubscription[]
}

export type TopicSubscription = { readonly filter: string; readonly qos: QoS }

export const topicSessionPrefix = 'topic-sessions/'

export const topicSessionName = (clientId: string) => `${topicSessionPrefix}${encodeURIComponent(clientId)}`

export const clientIdOf = (topicSession: string) =>
  decodeURIComponent(topicSession.slice(topicSessionPrefix.length))

/** `topic-message/<place>`: a message, once for all sessions that are owed it. A sweep removes it when none is. */
export type MessageDocument = {
  readonly topic: string
  /** base64 */
  readonly payload: string
}

export const topicMessagePrefix = 'topic-message/'

/** `topic-queue/<client id>/<place>`: the session of this client is owed the message. */
export type OwedDocument = {
  /** The QoS of the PUBLISH, or less where the session asked for less. */
  readonly qos: QoS
  /** Packet id under which it was sent; absent: it was not, or the process ended before that was kept. */
  readonly messageId?: number
  /** The client has received it (QoS 2): PUBREL is owed, and no PUBLISH. */
  readonly isReceived?: boolean
}

export const topicQueuePrefix = 'topic-queue/'

/** What the name of every message begins with that a principal's sessions are owed. @param scope such as `thing.<id>:` */
export const topicQueuesOf = (scope: string) => `${topicQueuePrefix}${encodeURIComponent(scope)}`

export const topicQueueOf = (clientId: string) => `${topicQueuesOf(clientId)}/`

export const clientIdOfQueued = (owedName: string) =>
  decodeURIComponent(owedName.slice(topicQueuePrefix.length, owedName.lastIndexOf('/')))

/** Digits of the greatest order that a number holds exactly. */
const orderDigits = 16

/** One message among all. */
export interface MessageId {
  /** Greater than that of every message that the broker has published before. */
  readonly order: number
  readonly brokerId: string
}

/** Its name in the store, with its size: bounds are kept by names alone, without a look at any content. */
export interface MessagePlace extends MessageId {
  /** Of topic and payload. */
  readonly bytes: number
}

export function placeOf({ topic, payload, brokerId, brokerCounter }: AedesPublishPacket): MessagePlace {
  return { order: brokerCounter, brokerId, bytes: Buffer.byteLength(topic) + Buffer.byteLength(payload) }
}

/** `<order>.<broker id>.<bytes>`; those of one broker sort in the order in which they were published. */
export function placeText({ order, brokerId, bytes }: MessagePlace): string {
  return `${String(order).padStart(orderDigits, '0')}.${brokerId}.${bytes}`
}

/** @param name of a document that ends with a place */
export function placeIn(name: string): MessagePlace {
  const [order, brokerId = '', bytes] = placeTextIn(name).split('.')
  return { order: Number(order), brokerId, bytes: Number(bytes) }
}

export const placeTextIn = (name: string) => name.slice(name.lastIndexOf('/') + 1)

/** `topic-retained/<SHA-256 of the topic>`: a topic may be longer than a name should be. */
export type RetainedDocument = {
  readonly topic: string
  /** base64 */
  readonly payload: string
  readonly qos: QoS
} & Partial<MessageId> // Absent: an older version has put it.

export const topicRetainedPrefix = 'topic-retained/'

export const bytesOf = (payload: Buffer | string) =>
  typeof payload === 'string' ? Buffer.from(payload) : payload

export const retainedName = (topic: string) => `${topicRetainedPrefix}${hash('sha256', topic)}`
