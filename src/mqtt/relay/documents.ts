import { hash } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import type { QoS } from '../packets/packet.ts'

/** `mqtt-sessions/<client id>`: a persistent session (see ../sessions/session-documents.ts). */
export const sessionPrefix = 'mqtt-sessions/'

// Client ids are encoded, since they may contain `/`.
export const sessionName = (clientId: string) => `${sessionPrefix}${encodeURIComponent(clientId)}`

/** `topic-sessions/<client id>`: the subscriptions of a persistent session to topics that are not Thingwire's. */
export type TopicSessionDocument = {
  readonly subscriptions: readonly TopicSubscription[]
}

export type TopicSubscription = { readonly filter: string; readonly qos: QoS }

export const topicSessionPrefix = 'topic-sessions/'

export const topicSessionName = (clientId: string) => `${topicSessionPrefix}${encodeURIComponent(clientId)}`

export const clientIdOf = (topicSession: string) =>
  decodeURIComponent(topicSession.slice(topicSessionPrefix.length))

/** `topic-message/<place>`: one message for all sessions that are owed it. A sweep removes messages that no session is owed. */
export type MessageDocument = {
  readonly topic: string
  /** Base64. */
  readonly payload: string
}

export const topicMessagePrefix = 'topic-message/'

/** `topic-queue/<client id>/<place>`: the message at this place is owed to the session of this client. */
export type OwedDocument = {
  /** The QoS of the PUBLISH or of the subscription, whichever is lower. */
  readonly qos: QoS
  /** Packet id under which the message was sent; absent if the message was not sent, or the process ended before storing the id. */
  readonly messageId?: number
  /** Whether the client has sent PUBREC (QoS 2), so that it is owed a PUBREL instead of the PUBLISH. */
  readonly isReceived?: boolean
}

export const topicQueuePrefix = 'topic-queue/'

/** Name prefix of the messages that are owed to a principal's sessions. @param scope for example `thing.<id>:` */
export const topicQueuesOf = (scope: string) => `${topicQueuePrefix}${encodeURIComponent(scope)}`

export const topicQueueOf = (clientId: string) => `${topicQueuesOf(clientId)}/`

export const clientIdOfQueued = (owedName: string) =>
  decodeURIComponent(owedName.slice(topicQueuePrefix.length, owedName.lastIndexOf('/')))

/** Number of digits of the largest safe integer. */
const orderDigits = 16

export interface MessageId {
  /** Increases with each message of the broker. */
  readonly order: number
  readonly brokerId: string
}

/** The name of a message in the store. It includes the size, so that limits can be enforced without reading messages. */
export interface MessagePlace extends MessageId {
  /** Size of topic and payload, bytes. */
  readonly bytes: number
}

export function placeOf({ topic, payload, brokerId, brokerCounter }: AedesPublishPacket): MessagePlace {
  return { order: brokerCounter, brokerId, bytes: Buffer.byteLength(topic) + Buffer.byteLength(payload) }
}

/** `<order>.<broker id>.<bytes>`: sorts the messages of one broker in the order in which they were published. */
export function placeText({ order, brokerId, bytes }: MessagePlace): string {
  return `${String(order).padStart(orderDigits, '0')}.${brokerId}.${bytes}`
}

/** @param name document name that ends with a place */
export function placeIn(name: string): MessagePlace {
  const [order, brokerId = '', bytes] = placeTextIn(name).split('.')
  return { order: Number(order), brokerId, bytes: Number(bytes) }
}

export const placeTextIn = (name: string) => name.slice(name.lastIndexOf('/') + 1)

/** `topic-retained/<SHA-256 of the topic>`: the topic is hashed since it may be too long for a name. */
export type RetainedDocument = {
  readonly topic: string
  /** Base64. */
  readonly payload: string
  readonly qos: QoS
} & Partial<MessageId> // Documents of older versions have no message id.

export const topicRetainedPrefix = 'topic-retained/'

export const bytesOf = (payload: Buffer | string) =>
  typeof payload === 'string' ? Buffer.from(payload) : payload

export const retainedName = (topic: string) => `${topicRetainedPrefix}${hash('sha256', topic)}`
