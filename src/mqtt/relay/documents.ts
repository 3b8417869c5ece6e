import { hash } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import type { Carried, QoS } from '../packets/packet.ts'

/** `mqtt-sessions/<client id>`: a persistent session (see ../sessions/session-documents.ts). */
export const sessionPrefix = 'mqtt-sessions/'

// Client ids are encoded, since they may contain `/`.
export const sessionName = (clientId: string) => `${sessionPrefix}${encodeURIComponent(clientId)}`

/** `topic-sessions/<client id>`: the subscriptions of a persistent session to topics that are not Thingwire's. */
export type TopicSessionDocument = {
  readonly subscriptions: readonly TopicSubscription[]
}

export type TopicSubscription = {
  readonly filter: string
  readonly qos: QoS
  /** Of version 5, as those below: comes with each message of the subscription. */
  readonly identifier?: number
  /** Whether the client gets no message of its own. */
  readonly isNoLocal?: true
  /** Whether messages keep RETAIN when they are published. */
  readonly isRetainAsPublished?: true
}

export const topicSessionPrefix = 'topic-sessions/'

export const topicSessionName = (clientId: string) => `${topicSessionPrefix}${encodeURIComponent(clientId)}`

export const clientIdOf = (topicSession: string) =>
  decodeURIComponent(topicSession.slice(topicSessionPrefix.length))

/** `topic-message/<place>`: one message for all sessions that are owed it. A sweep removes messages that no session is owed. */
export type MessageDocument = {
  readonly topic: string
  /** Base64. */
  readonly payload: string
  /** `Carried.properties`, base64. */
  readonly properties?: string
}

export const topicMessagePrefix = 'topic-message/'

/**
 * `topic-queue/<client id>/<place>`: the message at this place is owed to the session of this client. If the session has subscription
 * identifiers, there is an entry for each copy of the message, and the broker id has the identifier behind a `~`.
 */
export type OwedDocument = {
  /** The QoS of the PUBLISH or of the subscription, whichever is lower. */
  readonly qos: QoS
  /** Packet id under which the message was sent; absent if the message was not sent, or the process ended before storing the id. */
  readonly messageId?: number
  /** Whether the client has sent PUBREC (QoS 2), so that it is owed a PUBREL instead of the PUBLISH. */
  readonly isReceived?: boolean
  /** Whether RETAIN is set, for a subscription with Retain As Published. */
  readonly isRetained?: true
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

/** The name of a message in the store. Its size and its end are in it, so that no message is read to enforce limits. */
export interface MessagePlace extends MessageId {
  /** Size of topic, payload and properties, bytes. */
  readonly bytes: number
  /** When the message is over, milliseconds since 1970; undefined: never. */
  readonly expiresAt?: number | undefined
}

/** What Aedes' packets have as `properties`: Aedes passes the object on, and looks at none of it. */
export interface PacketExtras extends Carried {
  /** Client id of the publisher. */
  readonly from?: string | undefined
  /** Whether the message was published with RETAIN. */
  readonly isRetained?: boolean
  /** The copy of the message that a client with subscription identifiers gets. */
  readonly copy?: Copy
  /** The object that sends the retained message to one client. */
  readonly stream?: unknown
  /** Whether a message from the queue of a session was sent before, under the same packet id. */
  readonly isSent?: boolean
  /** Size of topic, payload and properties, bytes. The payload that a client gets may be longer. */
  readonly bytes?: number
}

/** One of the copies of a message that one client gets. */
export interface Copy {
  /** Subscription identifier; 0: none. */
  readonly identifier: number
  readonly qos: QoS
  readonly isRetained: boolean
}

export function extrasOf(packet: AedesPublishPacket): PacketExtras {
  return ((packet as { properties?: unknown }).properties as PacketExtras | undefined) ?? {}
}

export function placeOf(packet: AedesPublishPacket): MessagePlace {
  const { brokerId, brokerCounter: order } = packet
  const extras = extrasOf(packet)
  return { order, brokerId, bytes: extras.bytes ?? sizeOf(packet, extras), expiresAt: extras.expiresAt }
}

/** Size of topic, payload and properties, bytes. */
export function sizeOf(
  { topic, payload }: { readonly topic: string; readonly payload: Buffer | string },
  { properties }: Carried,
): number {
  return Buffer.byteLength(topic) + Buffer.byteLength(payload) + (properties?.length ?? 0)
}

/** `<order>.<broker id>.<bytes>[.<end>]`: sorts the messages of one broker in the order in which they were published. */
export function placeText({ order, brokerId, bytes, expiresAt }: MessagePlace): string {
  const end = expiresAt === undefined ? '' : `.${expiresAt}`
  return `${String(order).padStart(orderDigits, '0')}.${brokerId}.${bytes}${end}`
}

/** @param name document name that ends with a place */
export function placeIn(name: string): MessagePlace {
  const [order, brokerId = '', bytes, end] = placeTextIn(name).split('.')
  const expiresAt = end === undefined ? undefined : Number(end)
  return { order: Number(order), brokerId, bytes: Number(bytes), expiresAt }
}

/** The broker id of a copy: Aedes takes two messages with the same broker id and order for one. */
export const copyId = (brokerId: string, identifier: number) => `${brokerId}~${identifier}`

/** The broker id of the message of which there are copies. */
export const originOf = (brokerId: string) => brokerId.split('~', 1)[0] ?? ''

export const identifierOf = (brokerId: string) => Number(brokerId.split('~')[1] ?? 0)

/** Name of the message that an entry of a session's queue is about. */
export function messageNameOf(owedName: string): string {
  const place = placeIn(owedName)
  return topicMessagePrefix + placeText({ ...place, brokerId: originOf(place.brokerId) })
}

export const placeTextIn = (name: string) => name.slice(name.lastIndexOf('/') + 1)

/** `topic-retained/<SHA-256 of the topic>`: the topic is hashed since it may be too long for a name. */
export type RetainedDocument = {
  readonly topic: string
  /** Base64. */
  readonly payload: string
  readonly qos: QoS
  /** `Carried.properties`, base64. */
  readonly properties?: string
  /** When the message is over, milliseconds since 1970; absent: never. */
  readonly expiresAt?: number
} & Partial<MessageId> // Documents of older versions have no message id.

export const topicRetainedPrefix = 'topic-retained/'

export const bytesOf = (payload: Buffer | string) =>
  typeof payload === 'string' ? Buffer.from(payload) : payload

/** @param base64 of `Carried.properties` */
export const decoded = (base64: string | undefined) =>
  base64 === undefined ? undefined : Buffer.from(base64, 'base64')

export const retainedName = (topic: string) => `${topicRetainedPrefix}${hash('sha256', topic)}`
