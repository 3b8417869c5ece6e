import { catalogue, type FieldError, ThingwireError } from '../../errors.ts'
import { type Properties, types } from './packet.ts'
import { lengthBytes, writeProperties } from './properties.ts'

/** What a client of version 5 has said in CONNECT about the packets that it takes. */
export interface PacketLimits {
  /** Bytes of a whole packet (MQTT5-3.1.2-24). */
  readonly maximumPacketSize: number
  /** Whether it takes reasons in other packets than CONNACK, PUBLISH and DISCONNECT (MQTT5-3.1.2-29). */
  readonly wantsReasons: boolean
}

/**
 * PUBACK, PUBREC or PUBCOMP: four bytes for a success, else with the reasons as far as the client takes them.
 *
 * @param code 0 or the reason code of the refusal
 */
export function encodeAck5(
  type: number,
  messageId: number,
  code: number,
  refusal: ThingwireError | undefined,
  limits: PacketLimits,
  rejected?: readonly FieldError[],
): Buffer {
  const reasons = limits.wantsReasons ? { ...reasonsOf(refusal), ...rejectedIn(rejected) } : {}
  const isPlain = code === 0 && Object.keys(reasons).length === 0
  const begin = [twoBytes(messageId), ...(isPlain ? [] : [Buffer.of(code)])]
  return fitting(reasons, limits, properties => packetOf(type << 4, [...begin, ...properties]))
}

/** SUBACK or UNSUBACK. @param codes of each filter, in the order of the packet that is answered */
export function encodeFilterAck5(type: number, messageId: number, codes: readonly number[]): Buffer {
  return packetOf(type << 4, [twoBytes(messageId), Buffer.of(0), Buffer.from(codes)])
}

/** @param code 0 or the reason code of the refusal */
export function encodeConnack5(code: number, isSessionPresent: boolean, properties: Properties): Buffer {
  const begin = Buffer.of(isSessionPresent ? 1 : 0, code)
  return packetOf(types.connack << 4, [begin, writeProperties(properties)])
}

export function encodeDisconnect5(code: number, error: Error, limits: PacketLimits): Buffer {
  const reasons = error instanceof ThingwireError ? reasonsOf(error) : { reasonString: error.message }
  return fitting(reasons, limits, properties =>
    packetOf(types.disconnect << 4, [Buffer.of(code), ...properties]),
  )
}

/** Reason String and User Properties of a refusal: what HTTP answers. */
function reasonsOf(refusal: ThingwireError | undefined): Properties {
  if (!refusal) return {}
  const { reason, toSender, errors } = refusal
  const retryable = catalogue[reason].retryable ? 'yes' : 'no'
  const list = errors ? [['errors', JSON.stringify(errors)] as const] : []
  return { reasonString: toSender, userProperties: [['reason', reason], ['retryable', retryable], ...list] }
}

/** The records that a `partial` write has left out. */
function rejectedIn(rejected: readonly FieldError[] | undefined): Properties {
  return rejected ? { userProperties: [['rejected', JSON.stringify(rejected)]] } : {}
}

/** Leaves reasons off from the last on until the packet is no larger than the client takes. */
function fitting(
  { reasonString, userProperties = [] }: Properties,
  { maximumPacketSize }: PacketLimits,
  packetWith: (properties: readonly Buffer[]) => Buffer,
): Buffer {
  for (let count = userProperties.length; count > 0 || (count === 0 && reasonString !== undefined); count--) {
    const some = count === 0 ? {} : { userProperties: userProperties.slice(0, count) }
    const packet = packetWith([
      writeProperties({ ...(reasonString !== undefined && { reasonString }), ...some }),
    ])
    if (packet.length <= maximumPacketSize) return packet
  }
  return packetWith([])
}

function packetOf(firstByte: number, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.of(firstByte), lengthBytes(length), ...parts])
}

function twoBytes(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff)
}
