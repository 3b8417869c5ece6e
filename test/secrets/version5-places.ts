import type { Packet } from 'mqtt-packet'
import { type PublishOptions, publishPacket } from '../helpers/mqtt-client.ts'
import { basic } from './bodies.ts'
import { good, type Place, packetId, publish, subscribe, will } from './mqtt-places.ts'

type Properties = NonNullable<PublishOptions['properties']>

const writing = (topic: string, properties: Properties, body: object | string = good, qos: 0 | 1 | 2 = 1) =>
  publishPacket(topic, body, { qos, messageId: packetId, properties })

/** The secret in everything that goes along with a message, but Response Topics. */
const alongWith = (s: string) => ({
  contentType: s,
  correlationData: Buffer.from(s),
  userProperties: { [s]: s, token: s, basic: basic(s) },
})

/** What a connection with the thing's token sends. */
const sent = (packetsOf: (secret: string, token: string) => readonly Packet[]): Place => {
  return (s, { token }) => ({ connect: { username: token }, packets: packetsOf(s, token) })
}

/** A will on the write topic, in a session that would keep it while it waits. Its connection relies on the secret. */
const left = (propertiesOf: (secret: string) => object, body: object | string = good): Place => {
  return (s, { token }) => ({
    connect: {
      ...{ username: token, password: s, clientId: `left ${s.slice(0, 3)}`, clean: false },
      will: {
        ...will(`things/${token}/write`, body),
        properties: { willDelayInterval: 1, ...propertiesOf(s) },
      },
    },
  })
}

const reasons = (s: string) => ({ reasonString: `${s} is bad`, userProperties: { [s]: s, reason: s } })

const connects: Record<string, Place> = {
  'in User Properties of CONNECT': (s, { token }) => ({
    connect: { username: token, properties: { userProperties: { [s]: s, token: s } } },
  }),
  'as authentication data': (s, { token }) => ({
    connect: {
      username: token,
      properties: { authenticationMethod: s, authenticationData: Buffer.from(s) },
    },
  }),
  'as a credential without a client id': s => ({
    connect: { ...{ username: s, password: s, clientId: '', clean: true } },
  }),
  'in all properties of a will elsewhere': (s, { token }) => ({
    connect: {
      username: token,
      will: { ...will(`house/${s}/state`, s), properties: { ...alongWith(s), responseTopic: `house/${s}` } },
    },
  }),
}

const wills: Record<string, Place> = {
  'in all properties of a will': left(s => ({ ...alongWith(s), responseTopic: `things/${s}/answers/${s}` })),
  'as write id of a will': left(s => ({ userProperties: { id: s } })),
  'as write id of a will that is refused': left(s => ({ userProperties: { id: s } }), { values: [] }),
  'as write id of a will, too long': left(s => ({ userProperties: { id: `${s}${s}` } })),
  'as write id of a will, twice': left(s => ({ userProperties: { id: [s, s] } })),
  'as flag of a will': left(s => ({ userProperties: { store: s } })),
  'as binary Content Type of a will': left(s => ({ contentType: `application/cbor; token=${s}` })),
}

const packets: Record<string, Place> = {
  'in properties of a write': sent((s, token) => {
    const topic = `things/${token}/write`
    return [
      writing(topic, alongWith(s)),
      writing(topic, alongWith(s), '{"values":0}'),
      writing(topic, { ...alongWith(s), contentType: `application/cbor; token=${s}` }),
      ...['store', 'broadcast', 'partial'].map(flag => writing(topic, { userProperties: { [flag]: s } })),
    ]
  }),
  'as write id in properties': sent((s, token) => {
    const topic = `things/${token}/write`
    return [
      writing(topic, { userProperties: { id: s } }),
      writing(topic, { userProperties: { id: s } }),
      writing(topic, { userProperties: { id: s } }, { values: [] }, 2),
      writing(topic, { userProperties: { id: [s, s] } }),
      writing(topic, { userProperties: { id: `${s}${s}` } }),
      writing(topic, { userProperties: { id: 'x' } }, { ...good, id: s }),
      writing(topic, { userProperties: { id: s } }, good, 0),
    ]
  }),
  'in Response Topics': sent((s, token) => [
    subscribe(`things/${token}/answers/#`, `things/${s}/answers/#`, 'house/player/#'),
    ...[
      s,
      `things/${s}/answers`,
      `things/${s}/answers/${s}`,
      `house/player/${s}`,
      `v2/activations/${s}/x`,
    ].flatMap(responseTopic => [
      writing(`things/${token}/write`, { responseTopic, correlationData: Buffer.from(s) }),
      writing(`things/${token}/write`, { responseTopic }, { values: [] }, 0),
      writing(`things/${s}/write`, { responseTopic }),
    ]),
  ]),
  'in a Response Topic of its own': sent((s, token) => [
    subscribe(`things/${token}/answers/#`),
    writing(`things/${token}/write`, { responseTopic: `things/${token}/answers/${s}`, ...alongWith(s) }),
    writing(`things/${token}/write`, { responseTopic: `things/${token}/answers/${s}` }, { values: [] }),
    writing(`things/${token}/write`, { responseTopic: `things/${token}/answers/x` }, `{"id":"${s}"}`),
  ]),
  'in a Response Topic of an anonymous client': s => ({
    packets: [writing(`things/${s}/write`, { responseTopic: `things/${s}/answers/${s}`, ...alongWith(s) })],
  }),
  'in a topic with an alias': sent((s, token) => [
    ...[`things/${s}/write`, `things/${token}/write/${s}`, `house/${s}/x`, `garden/${s}`, s].flatMap(
      topic => [
        writing(topic, { topicAlias: 1 }),
        writing('', { topicAlias: 1 }, s, 2),
        writing('', { topicAlias: 1 }, s, 0),
      ],
    ),
  ]),
  'in a topic with an alias of an anonymous client': s => ({
    packets: [writing(`things/${s}/write`, { topicAlias: 2 }), writing('', { topicAlias: 2 }, '[]')],
  }),
  'in properties of a message that is refused': sent(s => [
    writing(`house/${s}/x`, { ...alongWith(s), responseTopic: `house/${s}` }, s),
    writing('garden/x', { ...alongWith(s), responseTopic: s }, s),
    writing('house/other/x', { ...alongWith(s), responseTopic: s }, s, 2),
    writing('house/other/x', { ...alongWith(s), responseTopic: s }, s, 0),
  ]),
  'in properties of SUBSCRIBE and UNSUBSCRIBE': sent((s, token) => {
    const properties = { userProperties: { [s]: s }, subscriptionIdentifier: 7 }
    const subscriptions = [`things/${token}/values/+`, 'house/player/#', `house/${s}/#`, `things/${s}/errors`]
    return [
      {
        ...{ cmd: 'subscribe', messageId: 5, properties },
        subscriptions: subscriptions.map(topic => ({ topic, qos: 1, nl: true, rap: true, rh: 0 })),
      },
      publish(`things/${token}/write`),
      {
        ...{ cmd: 'unsubscribe', messageId: 6, properties: { userProperties: { [s]: s } } },
        unsubscriptions: subscriptions,
      },
    ]
  }),
  'in reasons of acks': sent(s => [
    { cmd: 'puback', messageId: 9, reasonCode: 0x80, properties: reasons(s) },
    { cmd: 'pubrec', messageId: 9, reasonCode: 0x80, properties: reasons(s) },
    { cmd: 'pubrel', messageId: 9, reasonCode: 0x92, properties: reasons(s) },
    { cmd: 'pubcomp', messageId: 9, reasonCode: 0x92, properties: reasons(s) },
  ]),
}

/** Each ends the connection, the others do not. */
const ends: Record<string, Place> = {
  ...Object.fromEntries(
    [0, 0x04, 0x80, 0x81].map(reasonCode => [
      `in the reason of DISCONNECT ${reasonCode}`,
      (s, { token }) => ({
        connect: { username: token, will: will(`things/${token}/write`, good) },
        packets: [{ cmd: 'disconnect', reasonCode, properties: reasons(s) }],
      }),
    ]),
  ),
  'in the reason of DISCONNECT with an expiry': sent(s => [
    { cmd: 'disconnect', reasonCode: 0, properties: { ...reasons(s), sessionExpiryInterval: 60 } },
  ]),
  'in an AUTH of a client': sent(s => [
    {
      ...{ cmd: 'auth', reasonCode: 0x19 },
      properties: { ...reasons(s), authenticationMethod: s, authenticationData: Buffer.from(s) },
    },
  ]),
  'in a second CONNECT': sent(s => [
    {
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: s, clean: true },
      ...{ username: s, password: Buffer.from(s), properties: { userProperties: { [s]: s } } },
    },
  ]),
}

/** In version 5 alone. */
export const placesOf5 = [connects, wills, packets, ends].flatMap(each => Object.entries(each))
