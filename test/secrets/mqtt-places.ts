import type { Packet } from 'mqtt-packet'
import { type ConnectOptions, publishPacket } from '../helpers/mqtt-client.ts'
import { bodies, spelledBodies } from './bodies.ts'
import { percentEncoded } from './forms.ts'

/** What a client sends, with a secret in some place of it. */
export interface MqttPlace {
  readonly connect?: ConnectOptions
  readonly packets?: readonly Packet[]
}

/** @param token live one of a thing, with which the client gets past its credential */
export type Place = (secret: string, thing: { readonly thingId: string; readonly token: string }) => MqttPlace

export const good = { values: [{ key: 'n', value: 1 }] }
export const packetId = 77

export const subscribe = (...filters: string[]): Packet => ({
  cmd: 'subscribe',
  messageId: 5,
  subscriptions: filters.map(topic => ({ topic, qos: 1 })),
})
export const publish = (topic: string, body: object | string = good, qos: 0 | 1 | 2 = 1): Packet =>
  publishPacket(topic, body, { qos, messageId: packetId })
export const will = (topic: string, payload: object | string) => ({ topic, payload, qos: 1 as const })

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
  'in the topic of a write in a format': s => ({
    packets: [publish(`things/${s}/write/value/n`, '1'), publish(`things/${s}/write/json`, '{"values":0', 2)],
  }),
  'in the topic of a plain write that is meant for a format': s => ({
    packets: [publish(`things/${s}/write`, JSON.stringify({ [s]: s })), publish(`things/${s}/write`, s)],
  }),
  'as the ref of a will in a format': s => ({ connect: { will: will(`things/${s}/write/value/n`, '1') } }),
  'as the format of a will': (s, { token }) => ({
    connect: { username: token, password: s, will: will(`things/${token}/write/${s}`, '1') },
  }),
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

/** In every version. */
export const places: readonly [name: string, place: Place][] = [
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
