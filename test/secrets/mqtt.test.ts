import type { Packet } from 'mqtt-packet'
import {
  type ConnectOptions,
  isOf,
  type MqttClient,
  openMqtt,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { bodies, spelledBodies } from './bodies.ts'
import { percentEncoded } from './forms.ts'
import { keepsSecrets } from './play.ts'

/** What a client sends, with a secret in some place of it. */
interface MqttPlace {
  readonly connect?: ConnectOptions
  readonly packets?: readonly Packet[]
}

/** @param token live one of a thing, with which the client gets past its credential */
type Place = (secret: string, thing: { readonly thingId: string; readonly token: string }) => MqttPlace

const good = { values: [{ key: 'n', value: 1 }] }
const packetId = 77

const subscribe = (...filters: string[]): Packet => ({
  cmd: 'subscribe',
  messageId: 5,
  subscriptions: filters.map(topic => ({ topic, qos: 1 })),
})
const publish = (topic: string, body: object | string = good, qos: 0 | 1 | 2 = 1): Packet =>
  publishPacket(topic, body, { qos, messageId: packetId })
const will = (topic: string, payload: object | string) => ({ topic, payload, qos: 1 as const })

/** In CONNECT. A connection is broken off, so that what is a will is written. */
const connects: Record<string, Place> = {
  'as username': s => ({ connect: { username: s }, packets: [publish('things/x/write')] }),
  'as password': s => ({ connect: { username: 'device', password: s } }),
  'as both': s => ({ connect: { username: s, password: s, clientId: s, clean: false } }),
  'as password behind a token': (s, { token }) => ({ connect: { username: token, password: s } }),
  'as client id': (s, { token }) => ({
    connect: { username: token, clientId: s, clean: false },
    packets: [subscribe(`things/${token}/values/+`), publish(`things/${token}/write`, good, 2)],
  }),
  'cut off as client id': (s, { token }) => ({
    connect: { username: token, clientId: s.slice(0, 30), clean: false },
    packets: [publish(`things/${token}/write`, '[]', 2)],
  }),
  'in a client id': (s, { token }) => ({
    connect: { username: token, clientId: `sensor-${s}/1`, clean: false },
    packets: [publish(`things/${token}/write`, '[]', 2)],
  }),
  'in the client id of an anonymous client': (s, { token }) => ({
    connect: { clientId: `sensor ${s}`, will: will(`things/${token}/write`, good) },
    packets: [publish(`things/${token}/write`)],
  }),
  'in a client id that is too long': (s, { token }) => ({
    connect: { username: token, clientId: s.repeat(8), clean: false },
  }),
  'as the ref of a will': s => ({ connect: { will: will(`things/${s}/write`, good) } }),
  'as the ref of a will elsewhere': (s, { token }) => ({
    connect: { username: token, will: will(`v2/things/${s}/status`, s) },
  }),
  'as the ref of a will of a thing': (s, { token }) => ({
    connect: { username: token, will: will(`v2/things/${s}`, good) },
  }),
}

/** In what follows it. */
const packets: Record<string, Place> = {
  'in the topic of a write': s => ({ packets: [publish(`things/${s}/write`)] }),
  'in the topic of a write at QoS 0': s => ({ packets: [publish(`v2/things/${s}`, good, 0)] }),
  'in the topic of a write at QoS 2': s => ({ packets: [publish(`v2/things/${s}`, good, 2)] }),
  'in the topic of a retained write': s => ({
    packets: [publishPacket(`things/${s}/write`, good, { retain: true, messageId: packetId })],
  }),
  'in the topic of a write that is sent again': s => ({
    packets: [
      publish(`things/${s}/write`, good, 2),
      publishPacket(`things/${s}/write`, good, { qos: 2, dup: true, messageId: packetId }),
    ],
  }),
  'in the topic of a refused write': s => ({ packets: [publish(`things/${s}/write`, '{"values":0}')] }),
  'in a topic that is none of a write': s => ({ packets: [publish(`things/${s}/values/n`, s)] }),
  'behind the topic of a write': (s, { token }) => ({ packets: [publish(`things/${token}/write/${s}`, s)] }),
  'cut off behind the topic of a write': (s, { token }) => ({
    packets: [publish(`things/${token}/write/${s.slice(0, 30)}/${percentEncoded(s)}`, s)],
  }),
  'as a topic': s => ({ packets: [publish(s, s)] }),
  'as a topic of the broker': s => ({ packets: [publish(`$SYS/${s}`, s)] }),
  'in a topic with a wildcard': s => ({ packets: [publish(`things/${s}/+`, s)] }),
  'in filters of its own': s => ({
    packets: [subscribe(`things/${s}/#`, `things/${s}/errors`, `v2/things/${s}`, `things/${s}/date`)],
  }),
  'in filters of a session that is kept': (s, { token }) => ({
    connect: { username: token, clientId: `kept-${s.slice(0, 3)}`, clean: false },
    packets: [
      subscribe(`things/${s}/values/+`, `v2/things/${s}`, `things/${token}/errors`, `$share/${s}/x`),
      publish(`things/${token}/write`, good, 2),
    ],
  }),
  'in filters that are refused': (s, { token }) => ({
    connect: { username: token, clientId: 'refused', clean: false },
    packets: [subscribe(`${s}/#`, `things/+/values/${s}`, `$SYS/${s}`, `things/${s}+/x`, `v2/${s}`)],
  }),
  'in an UNSUBSCRIBE': (s, { token }) => ({
    connect: { username: token },
    packets: [{ cmd: 'unsubscribe', messageId: 6, unsubscriptions: [`things/${s}/values/+`, s] }],
  }),
  'as activation code': s => ({ packets: [subscribe(`v2/activations/${s}/x`)] }),
  'behind an activation code': s => ({ packets: [subscribe(`v2/activations/${'a'.repeat(34)}/${s}`)] }),
}

/** On topics beside those of things, of which the client may use `house/player/#`. What it says there is data. */
const otherTopics: Record<string, Place> = {
  ...Object.fromEntries(
    ([0, 1, 2] as const).map(qos => [
      `in a topic of others at QoS ${qos}`,
      (s, { token }) => ({ connect: { username: token }, packets: [publish(`house/${s}/x`, s, qos)] }),
    ]),
  ),
  'in a retained topic of others': (s, { token }) => ({
    connect: { username: token },
    packets: [publishPacket(`house/other/${s}`, s, { retain: true, messageId: packetId })],
  }),
  'cut off in a topic of others': (s, { token }) => ({
    connect: { username: token },
    packets: [publish(`house/${s.slice(0, 30)}/${percentEncoded(s)}`, s)],
  }),
  'in a topic that nobody may use': (s, { token }) => ({
    connect: { username: token },
    packets: [publish(`garden/${s}`, s), publish(`house/player/${s}/+`, s)],
  }),
  'in a topic of an anonymous client': s => ({ packets: [publish(`house/player/${s}`, s)] }),
  'in the topic of a will of others': (s, { token }) => ({
    connect: { username: token, will: will(`house/${s}/state`, s) },
  }),
  'in filters of others in a session that is kept': (s, { token }) => ({
    connect: { username: token, clientId: 'refused topics', clean: false },
    packets: [
      subscribe(`house/${s}/#`, `house/+/${s}`, `$share/${s}/house/player/#`, 'house/player/state'),
      { cmd: 'unsubscribe', messageId: 6, unsubscriptions: [`house/${s}/#`] },
    ],
  }),
  'as client id of a session with topics': (s, { token }) => ({
    connect: {
      username: token,
      clientId: `${s}-house`,
      clean: false,
      will: will('house/player/will', 'gone'),
    },
    packets: [
      subscribe('house/player/#'),
      publish('house/player/state', 'half done', 2),
      publishPacket('house/player/state', 'on', { retain: true, messageId: packetId + 1 }),
    ],
  }),
  'as password behind a token, with topics': (s, { token }) => ({
    connect: { username: token, password: s, will: will('house/player/will', 'gone') },
    packets: [publish('house/player/state', 'on')],
  }),
  'as password, with topics': s => ({
    connect: {
      username: 'x',
      password: s,
      clientId: 'topics',
      clean: false,
      will: will('house/player/will', 'gone'),
    },
    packets: [subscribe('house/nobody/#'), publish('house/nobody/state', 'on')],
  }),
}

const places: readonly [name: string, place: Place][] = [
  ...Object.entries(connects),
  ...Object.entries(packets),
  ...Object.entries(otherTopics),
  [
    'in many spellings, in writes',
    (s, { token }) => ({
      packets: Object.values(spelledBodies).map(body => publish(`things/${token}/write`, body(s), 0)),
    }),
  ],
  ...Object.entries(bodies).flatMap(([name, body]): [string, Place][] => [
    [`${name}, in a write`, (s, { token }) => ({ packets: [publish(`things/${token}/write`, body(s))] })],
    [
      `${name}, in a will`,
      (s, { token }) => ({
        connect: { username: token, password: s, will: will(`things/${token}/write`, body(s)) },
      }),
    ],
  ]),
]

const text = (...parts: (string | Buffer)[]) =>
  Buffer.concat(
    parts.map(part => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(part))
      return Buffer.concat([length, Buffer.from(part)])
    }),
  )

function packet(first: number, ...rest: Buffer[]): Buffer {
  const body = Buffer.concat(rest)
  if (body.length > 16_383) throw new Error('too long for two bytes')
  return Buffer.concat([Buffer.from([first, (body.length & 0x7f) | 0x80, body.length >> 7]), body])
}

const connect = (flags: number, level: number, ...texts: string[]) =>
  packet(0x10, text('MQTT'), Buffer.from([level, flags, 0, 0]), text(...texts))

/** Bytes that are no MQTT 3.1.1. */
const malformedPackets: readonly [name: string, bytes: (secret: string) => Buffer][] = Object.entries({
  'as protocol': s => packet(0x10, text(s), Buffer.from([4, 2, 0, 0]), text(s)),
  'in a CONNECT of version 5': s => connect(0xc2, 5, s, s, s),
  'in a CONNECT of no version': s => connect(0xc2, 77, s, s, s),
  'as a password without a username': s => connect(0x42, 4, 'x', s),
  'behind a CONNECT': s => Buffer.concat([connect(0x02, 4, s), Buffer.from(s)]),
  'in a will of QoS 3': s => connect(0xde, 4, s, `things/${s}/write`, s, s, s),
  'in a topic that is no UTF-8': s => {
    const topic = Buffer.concat([Buffer.from(`things/${s}/`), Buffer.from([0xff, 0xfe])])
    return Buffer.concat([connect(0x82, 4, 'x', s), packet(0x30, text(topic), Buffer.from(s))])
  },
  'in a topic with a NUL': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x30, text(`things/${s}/\0`), Buffer.from(s))]),
  'in a PUBLISH with packet id 0': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x32, text(`things/${s}/write`), Buffer.from([0, 0]))]),
  'in a SUBSCRIBE with reserved bits': s =>
    Buffer.concat([connect(0x82, 4, 'x', s), packet(0x80, Buffer.from([0, 1]), text(s), Buffer.from([0]))]),
  'as HTTP on the port of MQTT': s =>
    Buffer.from(`GET /v2/things/${s} HTTP/1.1\r\nAuthorization: ${s}\r\n\r\n`),
} satisfies Record<string, (secret: string) => Buffer>)

keepsSecrets('over MQTT', {
  play: async ({ server, player, secret, take }) => {
    for (const [index, [name, place]] of places.entries()) {
      const client = await openMqtt({ url: index % 4 === 0 ? server.webSocketUrl : server.mqttUrl })
      await take(name, playMqtt(client, place(secret, player)))
    }
    for (const [name, bytes] of malformedPackets) {
      await take(name, playMalformed(await openMqtt({ url: server.mqttUrl }), bytes(secret)))
    }
  },
  refused: ['house/[redacted]/x'],
})

/** @returns the payloads that were received: the topics of its own subscriptions are spelled as it spells them */
async function playMqtt(client: MqttClient, { connect = {}, packets = [] }: MqttPlace): Promise<string> {
  const isOpen = await client.connect(connect).then(
    ({ returnCode }) => returnCode === 0,
    () => false,
  )
  if (isOpen) {
    client.send(...packets)
    // An answer to PINGREQ is behind all other answers; who sent what is not allowed is closed.
    await Promise.race([client.ping(), client.closed]).catch(() => {})
  }
  await client.destroy()
  return payloadsOf(client)
}

async function playMalformed(client: MqttClient, bytes: Buffer): Promise<string> {
  client.sendBytes(bytes)
  // What came in with a CONNECT that is answered has been read by then.
  await Promise.race([client.next(isOf('connack')), client.closed]).catch(() => {})
  client.stream.end()
  await client.closed
  return payloadsOf(client)
}

function payloadsOf({ received }: MqttClient): string {
  return received
    .map(packet => (packet.cmd === 'publish' ? packet.payload.toString('latin1') : ''))
    .join('\n')
}
