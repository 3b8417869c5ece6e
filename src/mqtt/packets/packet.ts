import type { ConnectRefused } from './outcomes.ts'

/** Packet types (MQTT-2.2.1, table 2.1). */
export const types = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  suback: 9,
  unsubscribe: 10,
  unsuback: 11,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
} as const

/** Flags in the first byte of a PUBLISH (MQTT-3.3.1). */
export const publishFlags = { retain: 0x01, duplicate: 0x08 } as const

export type QoS = 0 | 1 | 2

/** Properties that a client sends, by name (MQTT5-2.2.2.2, table 2-4). Times are in seconds, sizes in bytes. */
export interface Properties {
  readonly payloadFormat?: number
  readonly messageExpiry?: number
  readonly contentType?: string
  readonly responseTopic?: string
  readonly correlationData?: Buffer
  readonly subscriptionIdentifier?: number
  readonly sessionExpiry?: number
  readonly authenticationMethod?: string
  readonly authenticationData?: Buffer
  readonly requestProblemInformation?: number
  readonly willDelay?: number
  readonly requestResponseInformation?: number
  readonly serverReference?: string
  readonly reasonString?: string
  readonly receiveMaximum?: number
  readonly topicAliasMaximum?: number
  readonly topicAlias?: number
  /** In the order of the packet; a name may occur more than once. */
  readonly userProperties?: readonly (readonly [name: string, value: string])[]
  readonly maximumPacketSize?: number
  /** Those of a message that go along unchanged from one client to another (MQTT5-3.3.2.3), as they were sent. */
  readonly carried?: Buffer
}

/** The kind of client that connects. `host`: it has no credential of Thingwire, and the broker also serves clients of the host. */
export type ClientKind = 'principal' | 'anonymous' | 'host'

/** The fields of a CONNECT that its version spells in its own way. The door takes all other fields from the packet that Aedes parses. */
export interface Connect {
  readonly cmd: 'connect'
  /** Keep-alive, seconds; 0 for none. */
  readonly keepalive: number
  /** Whether the client's earlier session ends. */
  readonly startsClean: boolean
  /** How long the session shall last after its connection, seconds; 0: it ends with the connection. */
  readonly sessionExpiry: number
  /** Why such a client cannot be served in this version; undefined if it can. */
  readonly refusal: (kind: ClientKind) => ConnectRefused | undefined
  /** Of version 5. */
  readonly willProperties?: Properties
  /** The CONNECT in MQTT 3.1.1, for Aedes; undefined if Aedes can read the received bytes. */
  readonly forBroker?: Buffer
}

export interface Publish {
  readonly cmd: 'publish'
  /** Without wildcards; empty only in version 5, with a topic alias. */
  readonly topic: string
  /** A view into the received bytes. */
  readonly payload: Buffer
  readonly qos: QoS
  readonly dup: boolean
  readonly retain: boolean
  /** 1 to 65,535; 0 at QoS 0. */
  readonly messageId: number
  /** Of version 5. */
  readonly properties?: Properties
}

/** What a relayed message has beside topic and payload. */
export interface Carried {
  /** Properties of version 5 that go along unchanged, as their bytes. */
  readonly properties?: Buffer | undefined
  /** When the message is over, milliseconds since 1970; undefined: never. */
  readonly expiresAt?: number | undefined
}

/** A relayed message as one client gets it. */
export interface Relayed {
  readonly properties?: Buffer | undefined
  /** Seconds until the message is over; undefined if it has no end. */
  readonly expiry?: number | undefined
  /** Subscription identifier; 0: none. */
  readonly identifier: number
  /** Whether RETAIN is set, of a message that is sent as it is published. */
  readonly isRetained: boolean
}

export interface Ack {
  readonly cmd: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp'
  /** 1 to 65,535. */
  readonly messageId: number
  /** Whether the client has refused the message, which then is not sent again, nor released (MQTT5-4.3.3). */
  readonly isRefusal?: boolean
}

export interface AskedFilter {
  readonly topic: string
  readonly qos: QoS
  /** Of version 5, as those below (MQTT5-3.8.3.1): the client gets no message of its own. */
  readonly noLocal?: boolean
  readonly retainAsPublished?: boolean
  /** Retained messages come 0: always, 1: if the filter is new, 2: never. */
  readonly retainHandling?: 0 | 1 | 2
}

export interface Subscribe {
  readonly cmd: 'subscribe'
  readonly messageId: number
  /** At least one. */
  readonly subscriptions: readonly AskedFilter[]
  /** Of version 5. */
  readonly subscriptionIdentifier?: number | undefined
}

export interface Unsubscribe {
  readonly cmd: 'unsubscribe'
  readonly messageId: number
  /** At least one. */
  readonly unsubscriptions: readonly string[]
}

export interface Ping {
  readonly cmd: 'pingreq'
}

export interface Disconnect {
  readonly cmd: 'disconnect'
  /** Whether the will applies nevertheless. */
  readonly keepsWill?: boolean
  /** A new value for `Connect.sessionExpiry`. */
  readonly sessionExpiry?: number | undefined
}

export type Packet = Connect | Publish | Ack | Subscribe | Unsubscribe | Ping | Disconnect

/**
 * `protocol_error`: the packet can be parsed, but not be sent so. `version`: CONNECT asks for a version that is not served.
 * `too_large`: the packet announces more than `maxPacketSize` or `sourcePacketSize`. `too_many`: more messages are unacknowledged than the server takes.
 */
export type Violation = 'malformed' | 'protocol_error' | 'version' | 'too_large' | 'topic_alias' | 'too_many'

/** A protocol violation, which ends the connection (MQTT-4.8.0-1). */
export class MalformedPacket extends Error {
  readonly violation: Violation

  constructor(message: string, violation: Violation = 'malformed') {
    super(message)
    this.name = 'MalformedPacket'
    this.violation = violation
  }
}
