import { encodeAck, encodeConnack, encodePublish, encodeSuback, type OutgoingPublish } from './encode.ts'
import type { FilterOutcome, PublishOutcome } from './outcomes.ts'
import { type Connect, MalformedPacket, types } from './packet.ts'

/** Writes packets to a client in the version of MQTT that its CONNECT chose. Doors hand it outcomes that know no version. */
export interface Codec {
  /** Accepts CONNECT. */
  connack(isSessionPresent: boolean): Buffer
  publish(publish: OutgoingPublish): Buffer
  /** PUBACKs and PUBRECs, in the order of the outcomes; empty if all are of QoS 0. */
  acks(outcomes: readonly PublishOutcome[]): Buffer
  pubcomp(messageId: number): Buffer
  /** @param outcomes of each filter of the SUBSCRIBE, in its order */
  suback(messageId: number, outcomes: readonly FilterOutcome[]): Buffer
  unsuback(messageId: number): Buffer
  /** The last packet before the server closes a connection for `error`; undefined if there is none. */
  closing(error: Error): Buffer | undefined
}

/** First byte of the ack of a PUBLISH, by QoS; QoS 0 has no ack. */
const ackHeaders = [undefined, types.puback << 4, types.pubrec << 4] as const
const ackLength = 4
/** CONNACK return code for an unsupported protocol level (MQTT-3.1.2-2). */
export const unacceptableLevel = 1
/** SUBACK code for a refused filter, instead of the granted QoS (MQTT-3.9.3-2). */
const refused = 128

const mqtt311: Codec = {
  connack: isSessionPresent => encodeConnack(0, isSessionPresent),
  publish: encodePublish,
  acks: acksWithoutReasons,
  pubcomp: messageId => encodeAck(types.pubcomp, messageId),
  suback: (messageId, outcomes) =>
    encodeSuback(
      messageId,
      outcomes.map(({ qos, refusal }) => (refusal === undefined ? qos : refused)),
    ),
  unsuback: messageId => encodeAck(types.unsuback, messageId),
  closing: error =>
    error instanceof MalformedPacket && error.violation === 'version'
      ? encodeConnack(unacceptableLevel)
      : undefined,
}

const mqtt31: Codec = {
  ...mqtt311,
  // MQTT 3.1 has no session-present flag.
  connack: () => encodeConnack(0),
  // MQTT 3.1 has no code for a refused filter: a client would take 128 for a QoS (3.1, section 3.8).
  suback: (messageId, outcomes) =>
    encodeSuback(
      messageId,
      outcomes.map(({ qos }) => qos),
    ),
}

export function codecOf(version: Connect['protocolVersion']): Codec {
  return version === 3 ? mqtt31 : mqtt311
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
