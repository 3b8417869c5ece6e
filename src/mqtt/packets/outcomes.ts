import type { ThingwireError } from '../../errors.ts'
import type { QoS } from './packet.ts'

/** What becomes of a PUBLISH at QoS 1 or 2. */
export interface PublishOutcome {
  readonly qos: QoS
  /** 1 to 65,535; 0 at QoS 0, which has no ack. */
  readonly messageId: number
  /** Why the message was refused for good; undefined if it is stored or relayed. */
  readonly refusal: ThingwireError | undefined
}

/** `not_granted`: the client may not subscribe to it. `too_many`: the connection has too many subscriptions. */
export type FilterRefusal = 'not_granted' | 'not_a_filter' | 'too_many' | 'unknown_code'

export interface FilterOutcome {
  /** The requested QoS, which is granted unless the filter is refused. */
  readonly qos: QoS
  readonly refusal: FilterRefusal | undefined
}

/** Why a CONNECT is refused, with the return code of MQTT 3.1.1 (MQTT-3.2.2-5, table 3.1). */
const connectRefusals = {
  client_id: 2,
  /** The server is stopping, or its store is unavailable. */
  unavailable: 3,
  /** The client has connected again before the answer. */
  replaced: 3,
  bad_credential: 4,
  too_many_failures: 5,
  /** Anonymous clients have no persistent sessions. */
  no_credential: 5,
  too_many_sessions: 5,
  will: 5,
} as const

export class ConnectRefused extends Error {
  readonly why: keyof typeof connectRefusals
  /** 2 to 5; Aedes sends it. */
  readonly returnCode: number

  constructor(why: keyof typeof connectRefusals, message: string) {
    super(message)
    this.name = 'ConnectRefused'
    this.why = why
    this.returnCode = connectRefusals[why]
  }
}

/** Why the server closes a connection of which no packet has failed, with the text for logs and the list of refused writes. */
const closings = {
  replaced: 'the client has connected again',
  revoked: 'the credential was revoked',
  topics_withdrawn: 'topics were withdrawn',
  unproven: 'no valid token was used in time',
  silent: 'keep alive timeout',
  unfinished: 'a packet began but did not end in time',
  stuck: 'the subscriber is stuck',
  missed: 'messages were missed',
  missed_elsewhere: 'messages from another node were lost',
  no_packet_id: 'too many unacknowledged messages: no packet id is free',
} as const

export type Closing = keyof typeof closings

export class ConnectionClosed extends Error {
  readonly why: Closing

  constructor(why: Closing, detail?: string) {
    super(detail === undefined ? closings[why] : `${closings[why]}: ${detail}`)
    this.name = 'ConnectionClosed'
    this.why = why
  }
}
