import { LockLost } from '../../core/locks.ts'
import { catalogue, type FieldError, ThingwireError } from '../../errors.ts'
import { type Codec, type ForClient, mqtt311 } from './codec.ts'
import { encode, encodePublish, type OutgoingPublish } from './encode.ts'
import { Fields } from './fields.ts'
import { type Header, headerAt, qosOf, typeOf } from './header.ts'
import {
  type BegunSession,
  ConnectionClosed,
  type ConnectRefused,
  closings,
  connectRefusals,
  type FilterOutcome,
  type FilterRefusal,
  type PublishOutcome,
} from './outcomes.ts'
import {
  MalformedPacket,
  type Properties,
  publishFlags,
  type QoS,
  type Relayed,
  types,
  type Violation,
} from './packet.ts'
import { lengthBytes, writeProperties } from './properties.ts'

/** Maximum number of topic aliases of a client (MQTT5-3.2.2.3.8). */
export const topicAliasMaximum = 16
/** Maximum number of topic aliases towards a client. */
const mostAliases = 64
/** Maximum number of a client's messages at QoS 1 and 2 that are not acknowledged yet (MQTT5-3.2.2.3.3). */
const receiveMaximum = 256
/** Bytes of a string (MQTT5-1.5.4). */
const longestText = 65_535
const success = 0
const unspecified = 0x80
const lostLock = 0x8e
const noProperties = Buffer.of(0)
/** Not a property of MQTT. In the packets that Aedes writes, it stands first in those that are to have RETAIN. */
const retainMark = 0x7f

const violationCodes: Readonly<Record<Violation, number>> = {
  malformed: 0x81,
  protocol_error: 0x82,
  version: 0x84,
  too_large: 0x95,
  topic_alias: 0x94,
  too_many: 0x93,
}

const filterCodes: Readonly<Record<FilterRefusal, number>> = {
  not_granted: 0x87,
  unknown_code: 0x87,
  not_a_filter: 0x8f,
  too_many: 0x97,
  shared: 0x9e,
}
const noSubscription = 0x11
const noPacketId = 0x92

/** Reason codes that a PUBACK or PUBREC may have (MQTT5-3.4.2.1). */
const ackCodes: ReadonlySet<number | undefined> = new Set([0x83, 0x87, 0x90, 0x97, 0x99])

/** Writes packets of MQTT 5 for one connection. */
export class Codec5 implements Codec {
  /** Topic aliases towards the client, by topic. */
  #aliases: Map<string, number> | undefined
  #asked: Properties = {}
  /** Whether CONNECT was answered. */
  #isAnswered = false
  #isRefused = false

  /** Call this with the properties of CONNECT, before any packet is written. */
  heard(properties: Properties): void {
    this.#asked = properties
  }

  get mostUnacked() {
    return { received: receiveMaximum, sent: this.#asked.receiveMaximum ?? 65_535 }
  }

  connack({ isPresent, expiry, assignedClientId, answersTopic, longest }: BegunSession): Buffer {
    this.#isAnswered = true
    const { sessionExpiry = 0, requestResponseInformation } = this.#asked
    const properties = {
      ...(expiry !== sessionExpiry && { sessionExpiryInterval: expiry }),
      ...(assignedClientId !== undefined && { assignedClientIdentifier: assignedClientId }),
      ...(requestResponseInformation === 1 && answersTopic && { responseInformation: answersTopic }),
      receiveMaximum,
      maximumPacketSize: 1 + lengthBytes(longest).length + longest,
      topicAliasMaximum,
      sharedSubscriptionAvailable: false,
    }
    return encode({ cmd: 'connack', reasonCode: success, sessionPresent: isPresent, properties }, 5)
  }

  connackRefusal({ why, toSender: reasonString }: ConnectRefused): Buffer {
    this.#isRefused = true
    return this.#connack(connectRefusals[why][1], { reasonString })
  }

  refusalCode({ why }: ConnectRefused): string {
    return `0x${connectRefusals[why][1].toString(16)}`
  }

  #connack(reasonCode: number, reasons: Reasons): Buffer {
    const packet = { cmd: 'connack', reasonCode, sessionPresent: false } as const
    return this.#fitting(reasons, properties => encode({ ...packet, properties }, 5))
  }

  publish(publish: OutgoingPublish): Buffer | undefined {
    const { topic, identifier = 0, correlationData } = publish
    const known = this.#aliases?.get(topic)
    const topicAlias = known ?? this.#nextAlias()
    const properties = [
      ...(topicAlias === undefined ? [] : [Buffer.of(0x23, topicAlias >> 8, topicAlias & 0xff)]),
      ...(correlationData ? [Buffer.of(9, correlationData.length >> 8, correlationData.length & 0xff)] : []),
      ...(correlationData ? [correlationData] : []),
      ...identifierIn(identifier),
    ]
    const packet = encodePublish(
      known === undefined ? publish : { ...publish, topic: '' },
      properties.length === 0 ? noProperties : writeProperties(properties),
    )
    if (!this.#takes(packet)) return undefined
    if (known === undefined && topicAlias !== undefined) {
      this.#aliases ??= new Map()
      this.#aliases.set(topic, topicAlias)
    }
    return packet
  }

  /** The next unused topic alias; undefined if the client takes no more. */
  #nextAlias(): number | undefined {
    const size = this.#aliases?.size ?? 0
    return size < Math.min(this.#asked.topicAliasMaximum ?? 0, mostAliases) ? size + 1 : undefined
  }

  /** In a PUBLISH, the properties lie between packet id and payload: as the beginning of the payload, they make one of MQTT 5. */
  relayedPayload(payload: Buffer, { properties, expiry, identifier, isRetained }: Relayed): Buffer {
    if (!properties && expiry === undefined && identifier === 0 && !isRetained)
      return Buffer.concat([noProperties, payload])
    const end = Buffer.of(2, 0, 0, 0, 0)
    end.writeUInt32BE(expiry ?? 0, 1)
    const parts = [
      ...(isRetained ? [Buffer.of(retainMark)] : []),
      ...(properties ? [properties] : []),
      ...(expiry === undefined ? [] : [end]),
      ...identifierIn(identifier),
    ]
    return writeProperties(parts, payload)
  }

  fromBroker(_bytes: Buffer, packets: readonly Buffer[]): readonly ForClient[] {
    return packets.map(each => {
      const header = headerAt(each, 0)
      if (!header || typeOf(header.firstByte) !== types.publish) return { bytes: each, isUrgent: true }
      const qos = qosOf(header.firstByte) as QoS
      const topicEnd = header.start + 2 + each.readUInt16BE(header.start)
      const unacked = qos === 0 ? undefined : { messageId: each.readUInt16BE(topicEnd), qos }
      const packet = withRetain(each, header, qos === 0 ? topicEnd : topicEnd + 2)
      return { bytes: this.#takes(packet) ? packet : undefined, unacked }
    })
  }

  #takes(packet: Buffer): boolean {
    return packet.length <= (this.#asked.maximumPacketSize ?? Number.POSITIVE_INFINITY)
  }

  /** Only what can never succeed is acknowledged (MQTT5-4.4.0-2: the client does not send it again). */
  acknowledges(error: unknown, qos: QoS): error is ThingwireError {
    if (mqtt311.acknowledges(error, qos)) return true
    return qos > 0 && error instanceof ThingwireError && !error.retryable && ackCodes.has(codeOf(error))
  }

  acks(outcomes: readonly PublishOutcome[]): Buffer {
    if (outcomes.every(({ refusal, rejected }) => !refusal && !rejected)) return mqtt311.acks(outcomes)
    return Buffer.concat(outcomes.map(outcome => this.#ack(outcome)))
  }

  #ack(outcome: PublishOutcome): Buffer {
    const { qos, messageId, refusal, rejected } = outcome
    if (qos === 0 || (!refusal && !rejected)) return mqtt311.acks([outcome])
    const cmd = qos === 1 ? 'puback' : 'pubrec'
    const reasonCode = refusal ? codeOf(refusal) : success
    const reasons = refusal ? reasonsOf(refusal) : { userProperties: { rejected: listed(rejected ?? []) } }
    if (this.#asked.requestProblemInformation === 0) return encode({ cmd, messageId, reasonCode }, 5)
    return this.#fitting(reasons, properties => encode({ cmd, messageId, reasonCode, properties }, 5))
  }

  /** Leaves reasons off from the last on until the packet is no larger than the client takes. */
  #fitting({ reasonString, userProperties = {} }: Reasons, packetWith: (reasons: Reasons) => Buffer): Buffer {
    const pairs = Object.entries(userProperties)
    for (let count = pairs.length; count >= 0; count--) {
      // mqtt-packet writes no packet with an empty object.
      const some = count > 0 && { userProperties: Object.fromEntries(pairs.slice(0, count)) }
      const packet = packetWith({ ...(reasonString !== undefined && { reasonString }), ...some })
      if (this.#takes(packet)) return packet
    }
    return packetWith({})
  }

  pubcomp(messageId: number, isKnown: boolean): Buffer {
    return isKnown
      ? mqtt311.pubcomp(messageId, isKnown)
      : encode({ cmd: 'pubcomp', messageId, reasonCode: noPacketId }, 5)
  }

  suback(messageId: number, outcomes: readonly FilterOutcome[]): Buffer {
    const granted = outcomes.map(({ qos, refusal }) => (refusal === undefined ? qos : filterCodes[refusal]))
    return encode({ cmd: 'suback', messageId, granted }, 5)
  }

  unsuback(messageId: number, existed: readonly boolean[]): Buffer {
    const granted = existed.map(did => (did ? success : noSubscription))
    return encode({ cmd: 'unsuback', messageId, granted }, 5)
  }

  closing(error: Error): Buffer | undefined {
    if (this.#isRefused) return undefined
    const reasonCode = closingCodeOf(error)
    // The message of an unexpected error is not for the client.
    const isExplained = error instanceof MalformedPacket || error instanceof ConnectionClosed
    const reasons =
      error instanceof ThingwireError
        ? reasonsOf(error)
        : { reasonString: isExplained ? error.message : 'the server has failed' }
    if (!this.#isAnswered) return this.#connack(reasonCode, reasons)
    return this.#fitting(reasons, properties => encode({ cmd: 'disconnect', reasonCode, properties }, 5))
  }
}

interface Reasons {
  readonly reasonString?: string
  readonly userProperties?: Record<string, string>
}

/** Reason String and User Properties of a refusal: what HTTP answers. */
function reasonsOf({ reason, toSender: reasonString, errors, retryable }: ThingwireError): Reasons {
  const list = errors && { errors: listed(errors) }
  return { reasonString, userProperties: { reason, retryable: retryable ? 'yes' : 'no', ...list } }
}

/** The errors as JSON; if a property cannot hold all of them, only the first ones. */
function listed(errors: readonly FieldError[]): string {
  const text = JSON.stringify(errors)
  return Buffer.byteLength(text) > longestText ? listed(errors.slice(0, errors.length >> 1)) : text
}

function identifierIn(identifier: number): readonly Buffer[] {
  return identifier === 0 ? [] : [Buffer.of(0x0b), lengthBytes(identifier)]
}

/** Replaces the mark by RETAIN, if there is one. @param place index of the properties' length */
function withRetain(packet: Buffer, { firstByte, start }: Header, place: number): Buffer {
  const fields = new Fields(packet.subarray(place))
  const length = fields.length()
  if (length === 0 || fields.byte() !== retainMark) return packet
  const parts = [packet.subarray(start, place), lengthBytes(length - 1), fields.rest()]
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.of(firstByte | publishFlags.retain), lengthBytes(size), ...parts])
}

function closingCodeOf(error: Error): number {
  if (error instanceof MalformedPacket) return violationCodes[error.violation]
  if (error instanceof ConnectionClosed) return closings[error.why][1]
  if (error instanceof LockLost) return lostLock
  return error instanceof ThingwireError ? codeOf(error) : unspecified
}

/** The reason code of MQTT 5. An error that another one has caused gets the code of that one, if MQTT 5 has a code for it. */
function codeOf({ reason, cause }: ThingwireError): number {
  const ofCause = cause instanceof ThingwireError ? catalogue[cause.reason].mqtt5 : undefined
  return ofCause ?? catalogue[reason].mqtt5 ?? unspecified
}
