import { acknowledge, connect, join, packet, publish, subscribe, types, unsubscribe } from '../bytes.ts'
import { closing, type MqttCase } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types

/** By name, a packet that is right but for its flags, and flags that are not (table 2.2). */
const badFlags: Record<string, readonly [good: Buffer, ...flags: number[]]> = {
  PUBACK: [acknowledge(puback), 1, 2, 8, 15],
  PUBREC: [acknowledge(pubrec), 2, 4],
  PUBREL: [acknowledge(pubrel), 0, 1, 3, 10],
  PUBCOMP: [acknowledge(pubcomp), 1, 2],
  SUBSCRIBE: [subscribe('a'), 0, 1, 3, 6, 10],
  UNSUBSCRIBE: [unsubscribe('a'), 0, 4, 10, 15],
  PINGREQ: [packet(0xc0), 1, 8],
  DISCONNECT: [packet(0xe0), 1, 2],
}

function withFlags(good: Buffer, flags: number): Buffer {
  const [firstByte = 0] = good
  return join([(firstByte & 0xf0) | flags], good.subarray(1))
}

const reserved = Object.entries(badFlags).flatMap(([name, [good, ...all]]) =>
  all.map(flags => [`a ${name} with the flags ${flags}`, [connect(), withFlags(good, flags)]] as const),
)

/** What only a server sends, and what nobody does. */
const foreign: Record<string, Buffer> = {
  'a CONNACK': packet(0x20, [0, 0]),
  'a SUBACK': packet(0x90, [0, 7, 0]),
  'an UNSUBACK': packet(0xb0, [0, 7]),
  'a PINGRESP': packet(0xd0),
  'a packet of type 0': packet(0),
  'a packet of type 0 with content': packet(0, [1, 2, 3]),
  'a packet of type 0 with flags': packet(0x0f),
  'a packet of type 15': packet(0xf0),
  'a packet of type 15 with a reason': packet(0xf0, [0]),
  'a packet of type 15 with flags': packet(0xff),
  'the first byte of a packet of type 15': Buffer.from([0xf0]),
  'the first byte of a SUBACK': Buffer.from([0x90]),
}

const publishes: Record<string, Buffer> = {
  'a PUBLISH of QoS 3': withFlags(publish(), 6),
  'a PUBLISH of QoS 3 with DUP and RETAIN': withFlags(publish(), 15),
  'a PUBLISH of QoS 0 with DUP': withFlags(publish({ qos: 0 }), 8),
  'a PUBLISH of QoS 0 with DUP and RETAIN': withFlags(publish({ qos: 0 }), 9),
}

const connectFlags = [1, 2, 4, 8, 15].map(
  flags => [`a CONNECT with the flags ${flags} in its first byte`, [withFlags(connect(), flags)]] as const,
)

/** The first byte of packets (MQTT-2.2.2-2, -3.3.1-2, -4). */
export const firstBytes: readonly MqttCase[] = [
  ...closing(Object.fromEntries(connectFlags), []),
  ...closing(Object.fromEntries(reserved)),
  ...closing(
    Object.fromEntries(
      Object.entries({ ...foreign, ...publishes }).map(([name, bytes]) => [name, [connect(), bytes]]),
    ),
  ),
]
