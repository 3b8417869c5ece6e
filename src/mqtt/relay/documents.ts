import { hash } from 'node:crypto'
import type { QoS } from '../packets/packet.ts'

/** `topic-sessions/<client id>`: to what the session of a client that may come back is subscribed beside things. */
export type TopicSessionDocument = {
  readonly subscriptions: readonly TopicSubscription[]
}

export type TopicSubscription = { readonly filter: string; readonly qos: QoS }

export const topicSessionPrefix = 'topic-sessions/'

// A client id may hold any character, and one may begin like another.
export const topicSessionName = (clientId: string) => `${topicSessionPrefix}${encodeURIComponent(clientId)}`

export const clientIdOf = (topicSession: string) =>
  decodeURIComponent(topicSession.slice(topicSessionPrefix.length))

/** `topic-queue/<client id>/<order>.<broker id>`: a message that a session is owed. */
export type QueuedMessage = {
  readonly topic: string
  /** base64 */
  readonly payload: string
  /** With which it was published, or less where the session asked for less. */
  readonly qos: QoS
  /** Packet id under which it was sent; absent: it was not, or the process ended before that was kept. */
  readonly messageId?: number
  /** The client has received it (QoS 2): PUBREL is owed, and no PUBLISH. */
  readonly isReceived?: boolean
}

export const topicQueuePrefix = 'topic-queue/'

export const topicQueueOf = (clientId: string) => `${topicQueuePrefix}${encodeURIComponent(clientId)}/`

export const clientIdOfQueued = (queuedName: string) =>
  decodeURIComponent(queuedName.slice(topicQueuePrefix.length, queuedName.lastIndexOf('/')))

/** Digits of the greatest order that a number holds exactly. */
const orderDigits = 16

/** Where a message stands: those of one broker in the order in which they were published. */
export interface MessagePlace {
  /** Greater than that of every message that the broker has published before. */
  readonly order: number
  readonly brokerId: string
}

export function queuedName(clientId: string, { order, brokerId }: MessagePlace): string {
  return `${topicQueueOf(clientId)}${String(order).padStart(orderDigits, '0')}.${brokerId}`
}

export function placeIn(queuedName: string): MessagePlace {
  const place = queuedName.slice(queuedName.lastIndexOf('/') + 1)
  return { order: Number(place.slice(0, orderDigits)), brokerId: place.slice(orderDigits + 1) }
}

/** `topic-retained/<SHA-256 of the topic>`: a topic may be longer than a name should be. */
export type RetainedDocument = {
  readonly topic: string
  /** base64 */
  readonly payload: string
  readonly qos: QoS
}

export const topicRetainedPrefix = 'topic-retained/'

export const bytesOf = (payload: Buffer | string) =>
  typeof payload === 'string' ? Buffer.from(payload) : payload

export const retainedName = (topic: string) => `${topicRetainedPrefix}${hash('sha256', topic)}`
