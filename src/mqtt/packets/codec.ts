import { isRateExceeded } from '../../core/refusals/door-refusals.ts'
import { catalogue, ThingwireError } from '../../errors.ts'
import { encode, encodeAck, encodePublish, type OutgoingPublish } from './encode.ts'
import type { BegunSession, ConnectRefused, FilterOutcome, PublishOutcome } from './outcomes.ts'
import { MalformedPacket, type QoS, type Relayed, types } from './packet.ts'

/** Writes packets to a client in the version of MQTT that its CONNECT chose. Doors hand it outcomes that know no version. */
export interface Codec {
  /** Maximum number of unacknowledged messages at QoS 1 and 2: from the client, and to the client. */
  readonly mostUnacked: { readonly received: number; readonly sent: number }
  /** Accepts CONNECT. */
  connack(session: BegunSession): Buffer
  connackRefusal(refusal: ConnectRefused): Buffer
  /** The code in that packet, for people. */
  refusalCode(refusal: ConnectRefused): string
  /** @returns undefined if the client takes no packet of this size */
  publish(publish: OutgoingPublish): Buffer | undefined
  /** The payload with which Aedes writes a relayed message as a PUBLISH for the client (see `fromBroker`). */
  relayedPayload(payload: Buffer, message: Relayed): Buffer
  /**
   * Packets that Aedes has written for the client, as the client gets them.
   *
   * @param packets the complete packets in `bytes`
   */
  fromBroker(bytes: Buffer, packets: readonly Buffer[]): readonly ForClient[]
  /**
   * Whether a PUBLISH that is refused with this error is acknowledged, or dropped at QoS 0; otherwise the connection is closed. Over
   * the rate, messages at QoS 0 are dropped: clients would not send them again anyway.
   */
  acknowledges(error: unknown, qos: QoS): error is ThingwireError
  /** PUBACKs and PUBRECs, in the order of the outcomes; empty if all are of QoS 0. */
  acks(outcomes: readonly PublishOutcome[]): Buffer
  /** @param isKnown whether a PUBLISH with this packet id is stored or relayed; a refused one has freed the id */
  pubcomp(messageId: number, isKnown: boolean): Buffer
  /** @param outcomes of each filter of the SUBSCRIBE, in its order */
  suback(messageId: number, outcomes: readonly FilterOutcome[]): Buffer
  /** @param existed whether there was a subscription, for each filter of the UNSUBSCRIBE, in its order */
  unsuback(messageId: number, existed: readonly boolean[]): Buffer
  /** The last packet before the server closes a connection for `error`; undefined if there is none. */
  closing(error: Error): Buffer | undefined
}

/** Packets of Aedes that are sent together. */
export interface ForClient {
  /** undefined if the client takes no packet of this size. */
  readonly bytes: Buffer | undefined
  /** The message at QoS 1 or 2 among them, if its acknowledgement counts; undefined otherwise. */
  readonly unacked?: { readonly messageId: number; readonly qos: QoS } | undefined
  /** Whether the packet must not wait behind messages: the client acknowledges none of them before it has a PUBREL. */
  readonly isUrgent?: boolean
}

const mostPacketIds = 65_535
/** First byte of the ack of a PUBLISH, by QoS; QoS 0 has no ack. */
const ackHeaders = [undefined, types.puback << 4, types.pubrec << 4] as const
const ackLength = 4
/** CONNACK return code for an unsupported protocol level (MQTT-3.1.2-2). */
export const unacceptableLevel = 1
/** SUBACK code for a refused filter, instead of the granted QoS (MQTT-3.9.3-2). */
const refused = 128

export const mqtt311: Codec = {
  mostUnacked: { received: mostPacketIds, sent: mostPacketIds },
  connack: ({ isPresent }) => encode({ cmd: 'connack', returnCode: 0, sessionPresent: isPresent }, 4),
  connackRefusal: ({ returnCode }) => connackRefusal(returnCode),
  refusalCode: ({ returnCode }) => String(returnCode),
  publish: encodePublish,
  relayedPayload: payload => payload,
  fromBroker: bytes => [{ bytes }],
  acknowledges: (error, qos): error is ThingwireError =>
    error instanceof ThingwireError &&
    (catalogue[error.reason].mqtt === 'report' || (qos === 0 && isRateExceeded(error))),
  acks: acksWithoutReasons,
  pubcomp: messageId => encodeAck(types.pubcomp, messageId),
  suback: (messageId, outcomes) => {
    const granted = outcomes.map(({ qos, refusal }) => (refusal === undefined ? qos : refused))
    return encode({ cmd: 'suback', messageId, granted }, 4)
  },
  unsuback: messageId => encodeAck(types.unsuback, messageId),
  closing: error =>
    error instanceof MalformedPacket && error.violation === 'version'
      ? connackRefusal(unacceptableLevel)
      : undefined,
}

export const mqtt31: Codec = {
  ...mqtt311,
  // MQTT 3.1 has no session-present flag.
  connack: () => encode({ cmd: 'connack', returnCode: 0, sessionPresent: false }, 4),
  // MQTT 3.1 has no code for a refused filter: a client would take 128 for a QoS (3.1, section 3.8).
  suback: (messageId, outcomes) =>
    encode({ cmd: 'suback', messageId, granted: outcomes.map(({ qos }) => qos) }, 4),
}

function connackRefusal(returnCode: number): Buffer {
  return encode({ cmd: 'connack', returnCode, sessionPresent: false }, 4)
}

/** A refused PUBLISH is acknowledged like one that is stored: without an ack, the client would resend it for ever. */
function acksWithoutReasons(outcomes: readonly PublishOutcome[]): Buffer {
  const acks = Buffer.allocUnsafe(outcomes.length * ackLength)
  let end = 0
  for (const { qos, messageId } of outcomes) {
    const header = ackHeaders[qos]
    if (header === undefined) continue
    acks[end] = header
    acks[end + 1] = 2
    acks.writeUInt16BE(messageId, end + 2)
    end += ackLength
  }
  return end === acks.length ? acks : acks.subarray(0, end)
}
