import {
  acknowledge,
  connect,
  connectAnonymous,
  disconnect,
  packet,
  pingreq,
  publish,
  subscribe,
  types,
  unsubscribe,
} from '../bytes.ts'
import { closing, type MqttCase } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types

const first: Record<string, Buffer> = {
  'a PUBLISH of QoS 0': publish({ qos: 0 }),
  'a PUBLISH of QoS 1': publish(),
  'a PUBLISH of QoS 2': publish({ qos: 2 }),
  'a PUBACK': acknowledge(puback),
  'a PUBREC': acknowledge(pubrec),
  'a PUBREL': acknowledge(pubrel),
  'a PUBCOMP': acknowledge(pubcomp),
  'a SUBSCRIBE': subscribe('things/+/errors'),
  'an UNSUBSCRIBE': unsubscribe('a'),
  'a PINGREQ': pingreq,
  'a DISCONNECT': disconnect,
  'a CONNACK': packet(0x20, [0, 0]),
  'the first byte of a PUBLISH': Buffer.from([0x30]),
  'an HTTP request': Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
  'a POST request': Buffer.from('POST / HTTP/1.1\r\nHost: a\r\n\r\n'),
  'a TLS handshake': Buffer.from('1603010200010001fc0303', 'hex'),
  'an SSH banner': Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
  'a PROXY line': Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n'),
  zeros: Buffer.alloc(1_000),
  ones: Buffer.alloc(1_000, 0xff),
}

/** What may come first, and after what (MQTT-3.1.0-1, -2; MQTT-3.14.4-1). */
export const order: readonly MqttCase[] = [
  ...closing(
    Object.fromEntries(
      Object.entries(first).map(([name, bytes]) => [`${name} before a CONNECT`, [bytes, connect()]]),
    ),
    [],
  ),
  ...closing({
    'a second CONNECT': [connect(), connect()],
    'a second CONNECT without credentials': [connect(), connectAnonymous],
    'a second CONNECT behind a PINGREQ': [connectAnonymous, connect({ clientId: 'a' })],
    'a second CONNECT of version 5': [connect(), connect({ level: 5 })],
    'the first byte of a second CONNECT': [connect(), Buffer.from([0x10])],
    'a DISCONNECT': [connect(), disconnect],
    'a PUBLISH behind a DISCONNECT': [connect(), disconnect, publish()],
    'a PINGREQ behind a DISCONNECT': [connect(), disconnect, pingreq],
    'garbage behind a DISCONNECT': [connect(), disconnect, Buffer.alloc(1_000, 0xff)],
  }),
]
