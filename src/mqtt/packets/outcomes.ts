import type { FieldError, ThingwireError } from '../../errors.ts'

/** What becomes of a PUBLISH at QoS 1 or 2. */
export interface PublishOutcome {
  readonly qos: 0 | 1 | 2
  /** 1 to 65,535; 0 at QoS 0, which has no ack. */
  readonly messageId: number
  /** Why the message was refused for good; undefined if it is stored or relayed. */
  readonly refusal: ThingwireError | undefined
  /** Records that a `partial` write has left out. */
  readonly rejected?: readonly FieldError[] | undefined
}

/**
 * `not_granted`: the client may not subscribe to it. `too_many`: the connection has too many subscriptions. `shared`: it begins with
 * `$share`.
 */
export type FilterRefusal = 'not_granted' | 'not_a_filter' | 'too_many' | 'unknown_code' | 'shared'

export interface FilterOutcome {
  /** The requested QoS, which is granted unless the filter is refused. */
  readonly qos: 0 | 1 | 2
  readonly refusal: FilterRefusal | undefined
}

/** The session of an accepted CONNECT. */
export interface BegunSession {
  readonly isPresent: boolean
  /** How long it lasts after the connection, seconds. */
  readonly expiry: number
  /** The client id, if the client sent none; else undefined. */
  readonly assignedClientId?: string | undefined
  /** Beginning of the topics for answers to the client's writes; undefined if it is for no one thing. */
  readonly answersTopic?: string | undefined
  /** Maximum length that a packet of the client may announce, bytes. */
  readonly longest: number
}

/** Why a CONNECT is refused: the return code of MQTT 3.1.1 (MQTT-3.2.2-5, table 3.1) and the reason code of MQTT 5 (MQTT5-3.2.2.2). */
export const connectRefusals = {
  client_id: [2, 0x85],
  /** The server is stopping, or its store is unavailable. */
  unavailable: [3, 0x88],
  /** The client has connected again before the answer. */
  replaced: [3, 0x88],
  bad_credential: [4, 0x86],
  too_many_failures: [5, 0x9f],
  /** Anonymous clients have no persistent sessions. */
  no_credential: [5, 0x87],
  too_many_sessions: [5, 0x97],
  will: [5, 0x87],
  authentication_method: [5, 0x8c],
  /** The host's broker serves this client, but does not speak the version. */
  version: [1, 0x84],
} as const

export class ConnectRefused extends Error {
  readonly why: keyof typeof connectRefusals
  /** 1 to 5; for the events of Aedes. */
  readonly returnCode: number
  /** The message without the client's own texts. */
  readonly toSender: string

  constructor(why: keyof typeof connectRefusals, message: string, toSender = message) {
    super(message)
    this.name = 'ConnectRefused'
    this.why = why
    this.returnCode = connectRefusals[why][0]
    this.toSender = toSender
  }
}

/** Why the server closes a connection of which no packet has failed: text for logs and lists, and reason code of MQTT 5. */
export const closings = {
  replaced: ['the client has connected again', 0x8e],
  revoked: ['the credential was revoked or has expired', 0x87],
  topics_withdrawn: ['topics were withdrawn', 0x87],
  stopping: ['the server is stopping', 0x8b],
  unproven: ['no valid token was used in time', 0xa0],
  silent: ['keep alive timeout', 0x8d],
  unfinished: ['a packet began but did not end in time', 0x8d],
  stuck: ['the subscriber is stuck', 0x97],
  missed: ['messages were missed', 0x80],
  missed_elsewhere: ['messages from another node were lost', 0x80],
  no_packet_id: ['too many unacknowledged messages: no packet id is free', 0x97],
} as const

export type Closing = keyof typeof closings

export class ConnectionClosed extends Error {
  readonly why: Closing

  constructor(why: Closing, detail?: string) {
    super(detail === undefined ? closings[why][0] : `${closings[why][0]}: ${detail}`)
    this.name = 'ConnectionClosed'
    this.why = why
  }
}
