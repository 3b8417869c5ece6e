import type { QoS } from 'mqtt-packet'
import { expect } from 'vitest'
import { isMessageOn, isOf, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { type Cast, credentialOf, spell, type Who } from './cast.ts'
import { ask, expectNothingSeen, forgery, login, messagesOf, untilClosed } from './clients.ts'
import { isolationTests, type Way, type World } from './world.ts'

const { mqtt } = isolationTests()

/** One PUBLISH. */
interface Publish {
  readonly topic: string
  /** Default 1. */
  readonly qos?: QoS
  readonly retain?: boolean
  /** Default: a write that no one but its maker may ever see. */
  readonly payload?: string
}

/**
 * `closed`: without an ack, but version 5 acks what has no wildcard at QoS 1; `reported`: acked, dropped and reported on the attacker's own thing as `not_a_write_topic`;
 * `dropped`: acked, and reported on no thing; `written`: acked, and a record of the attacker's own thing, nothing else.
 */
type Answer = 'closed' | 'reported' | 'dropped' | 'written'

/** PUBLISHes where one must not, or not so. */
publishes('own token', 'closed', {
  'write to every thing': 'things/+/write',
  'write to everything': '#',
})
publishes('own token', 'reported', {
  'publish on other topics of another': 'house/victim/state',
  'retain on other topics of another': retained('house/victim/state'),
  'clear what is retained on other topics of another': cleared('house/victim/state'),
  'publish on other topics of another at QoS 2': atQoS(2, 'house/victim/state'),
  'publish above other topics': 'house',
  'publish behind a slash on other topics': '/house/own/x',
  'write to another thing': 'things/<victim>/write',
  'write to another thing at QoS 0': atQoS(0, 'things/<victim>/write'),
  'write to another thing at QoS 2': atQoS(2, 'things/<victim>/write'),
  'write to another thing, retained': retained('things/<victim>/write'),
  'write to another thing in a format': 'things/<victim>/write/value/forged',
  'write to another thing in a format, retained': retained('things/<victim>/write/json'),
  'write to another thing in a format at QoS 2': atQoS(2, 'things/<victim>/write/json'),
  'write to another thing in no format': 'things/<victim>/write/<own>',
  'write to another thing on the old topic': 'v2/things/<victim>',
  'write to another thing on the old topic, retained': retained('v2/things/<victim>'),
  'announce a value of another thing': 'things/<victim>/values/temperature',
  'retain a value of another thing': retained('things/<victim>/values/temperature'),
  'clear what is retained of another thing': cleared('things/<victim>/values/temperature'),
  'clear the settings of another thing': cleared('things/<victim>/values/$settings'),
  'announce a position of another thing': atQoS(0, 'things/<victim>/values/$geo'),
  'announce an error of another thing': 'things/<victim>/errors',
  'announce the time to another thing': retained('things/<victim>/date'),
  'write behind a leading slash': '/things/<victim>/write',
  'write behind a doubled slash': 'things//<victim>/write',
  'write with a doubled slash': 'things/<victim>//write',
  'write before a trailing slash': 'things/<victim>/write/',
  'write to things in upper case': 'THINGS/<victim>/write',
  'write in upper case': 'things/<victim>/WRITE',
  'write to an id in upper case': 'things/<victim in upper case>/write',
  'write to an id less its last': 'things/<victim less its last>/write',
  'write to an id percent-encoded': 'things/<victim percent-encoded>/write',
  'write to a token less its last': 'things/<victim token less its last>/write',
  'write to a token in lower case': 'things/<victim token in lower case>/write',
  'write to the hash of a token': 'things/<hash of victim token>/write',
  'write to a session': 'things/<write session of victim>/write',
  'write to a removed thing': 'things/<token of removed>/write',
  "write with a revoked token of one's own": 'things/<revoked token>/write',
  'write on a shared topic': '$share/g/things/<victim>/write',
  'publish as the broker': retained('$SYS/broker/uptime'),
  'answer an activation': 'v2/activations/<fresh code>/x',
  'write on a path of the operator': 'v2/admin/things',
  'write on a topic of nobody': retained('hello/world'),
})
publishes('own token', 'reported', {
  'write up and over': 'things/<own>/../<victim>/write',
  'write up and over in a format': 'things/<own>/../<victim>/write/value/forged',
  'write in a format on the old topic': 'v2/things/<own>/write/json',
  'write up and over by the token': 'things/<own token>/../<victim>/write',
  'write up and over on the old topic': 'v2/things/<own>/../<victim>',
  'retain up and over': retained('things/<own>/../<victim>/values/temperature'),
  "retain a value of one's own": retained('things/<own>/values/forged'),
  'retain a value by the token': retained('things/<own token>/values/forged'),
  "clear what is retained of one's own": cleared('things/<own>/values/forged'),
  "announce an error of one's own": 'things/<own>/errors',
  'retain the time for oneself': retained('things/<own>/date'),
})
publishes('own token', 'written', {
  'write, to be retained': retained('things/<own>/write'),
  'write on the old topic, to be retained': retained('v2/things/<own token>'),
  'write in a format, to be retained': {
    ...retained('things/<own>/write/value/forged'),
    payload: 'forged',
  },
  'write with another thing in the key': {
    topic: 'things/<own>/write/value/../../../<victim>/write',
    payload: '1',
  },
})
publishes('read session of victim', 'dropped', {
  'a read session writes': 'things/<victim>/write',
  'a read session writes at QoS 0': atQoS(0, 'things/<victim>/write'),
  'a read session writes at QoS 2': atQoS(2, 'things/<victim>/write'),
  'a read session writes in a format': 'things/<victim>/write/value/forged',
  'a read session writes on the old topic': 'v2/things/<victim>',
  'a read session retains a value': retained('things/<victim>/values/temperature'),
  'a read session clears what is retained': cleared('things/<victim>/values/temperature'),
  'a read session announces an error': 'things/<victim>/errors',
})
publishes('minted read session of victim', 'dropped', {
  'a minted read session writes': 'things/<victim>/write',
})
publishes('read session of all', 'dropped', {
  'a read session of all writes': 'things/<victim>/write',
})
publishes('read session of all', 'closed', {
  'a read session of all writes to every thing': 'things/+/write',
})
publishes('write session of all', 'closed', {
  'a write session of all writes to every thing': 'things/+/write',
})
publishes('write session of all', 'dropped', {
  'a session writes on $SYS': retained('$SYS/broker/uptime'),
  'a session writes on a topic of nobody': retained('hello/world'),
})
publishes('own write session', 'reported', {
  'a write session of another thing writes': 'things/<victim>/write',
  'a write session of another thing writes in a format': 'things/<victim>/write/value/forged',
  'a write session of another thing writes on the old topic': 'v2/things/<victim>',
})
publishes('own minted write session', 'reported', {
  'a minted session of another thing writes': 'things/<victim>/write',
})
publishes('own read session', 'dropped', {
  'a read session of another thing writes': 'things/<victim>/write',
})
publishes('session of removed', 'dropped', {
  'a session of a removed thing writes to it': 'things/<removed>/write',
})
publishes('own write session', 'written', {
  'a write session writes, to be retained': retained('things/<own>/write'),
})
publishes('source token', 'dropped', {
  'a source writes to a thing': 'things/<victim>/write',
  'a source writes to a thing at QoS 2': atQoS(2, 'things/<victim>/write'),
  'a source writes to a thing on the old topic': 'v2/things/<victim>',
  'a source retains a value': retained('things/<victim>/values/temperature'),
  'a source writes to itself as a thing': 'things/<own source>/write',
  'a source publishes on topics of another': 'estate/victim/pump/pressure',
  'a source retains on topics of another': retained('estate/victim/pump/pressure'),
  'a source publishes on topics of a thing': 'house/victim/state',
  'a source publishes as the broker': '$SYS/broker/uptime',
})
publishes('topic session', 'dropped', {
  'publish on topics of a source, with a session of topics': 'estate/own/pump/pressure',
})
publishes('nobody', 'closed', {
  'an anonymous client writes to an id': 'things/<victim>/write',
  'an anonymous client writes to an id on the old topic': 'v2/things/<victim>',
  'an anonymous client writes to an id at QoS 0': atQoS(0, 'things/<victim>/write'),
  'an anonymous client clears what is retained': cleared('things/<victim>/values/temperature'),
  'an anonymous client writes to an id in a format': 'things/<victim>/write/value/forged',
  'an anonymous client writes to an unknown token': 'things/<unknown token>/write',
  'an anonymous client writes with a revoked token': 'things/<revoked token>/write',
  'an anonymous client writes with a revoked token, old topic': 'v2/things/<revoked token>',
  'an anonymous client writes with the token of a removed thing': 'things/<token of removed>/write',
  'an anonymous client writes with a session': 'things/<write session of victim>/write',
  'an anonymous client writes with an expired session': 'things/<expired session>/write',
  'an anonymous client writes with the hash of the admin key': 'things/<hash of admin key>/write',
})
publishes('nobody', 'reported', {
  'an anonymous client writes up and over': 'things/<own token>/../<victim>/write',
  'an anonymous client retains a value': retained('things/<own token>/values/forged'),
})
publishes('topic reader', 'dropped', { 'publish where one may read alone': 'house/own/x' })
publishes('topic session', 'dropped', {
  'publish on topics of another, with a session of topics': retained('house/victim/state'),
  'write to another thing, with a session of topics': 'things/<victim>/write',
})

/** PUBLISHes by name, of one credential and one answer; a text alone is the topic. */
function publishes(as: Who, answer: Answer, rows: Readonly<Record<string, string | Publish>>): void {
  for (const [name, row] of Object.entries(rows)) {
    const message = typeof row === 'string' ? { topic: row } : row
    const run = (world: World, way: Way) => publish(world, way, name, { as, answer, ...message })
    mqtt(`PUBLISH: ${name}`, run, { as, answer, ...message })
  }
}

function atQoS(qos: QoS, topic: string): Publish {
  return { topic, qos }
}

function retained(topic: string): Publish {
  return { topic, retain: true }
}

/** Clears what is retained. */
function cleared(topic: string): Publish {
  return { topic, retain: true, payload: '' }
}

async function publish(
  world: World,
  way: Way,
  name: string,
  trick: Publish & { readonly as: Who; readonly answer: Answer },
): Promise<void> {
  const { cast } = world
  const forged = JSON.stringify(forgery(`${name}, over ${way}`))
  const { qos = 1, retain = false, answer, payload = forged } = trick
  const attacker = await login(world, way, credentialOf(cast, trick.as))
  const topic = spell(cast, trick.topic)
  const isMalformed = /[+#]/.test(topic)
  if (answer === 'closed' && (way.protocolVersion === 4 || qos === 0 || isMalformed)) {
    attacker.send(publishPacket(topic, payload, { qos, retain, messageId: 1 }))
    await untilClosed(attacker, way, isMalformed ? 0x82 : 0x87)
    expect(attacker.acknowledgements).toEqual([])
  } else {
    await attacker.publish(topic, payload, { qos, retain })
    // At QoS 0 nothing else shows that the server has taken it.
    await attacker.ping()
    if (way.protocolVersion === 5 && qos > 0) expect(ackOf(attacker)).toBe(codeOf(answer, topic, cast))
    await attacker.disconnect()
  }
  if (answer === 'reported') await expectReported(world, payload)
  if (retain) await expectNotRetained(world, way, topic)
  expectNothingSeen(cast, attacker)
}

/** Reason code of the one ack. */
function ackOf({ received }: MqttClient): number | undefined {
  return [...received.filter(isOf('puback')), ...received.filter(isOf('pubrec'))][0]?.reasonCode
}

/** In version 5: of a refusal it says whether others may write there, or nobody. Who has proven nothing does not hear that. */
function codeOf(answer: Answer, topic: string, { words }: Cast): number {
  if (answer === 'written') return 0
  const ref = '([a-z2-7]{16}|[\\w-]{43})'
  const ofOthers = new RegExp(`^(things/${ref}/write(/.+)?|v2/things/${ref}|(house|estate)(/.*)?)$`)
  const isOfOthers = ofOthers.test(topic) && !topic.includes(words.removed)
  return answer === 'closed' || isOfOthers ? 0x87 : 0x90
}

async function expectReported(world: World, payload: string): Promise<void> {
  // Connections that were refused a minute ago are counted in the same list, whenever their minute is over.
  const request = 'GET /v2/things/<own token>/errors?limit=20'
  const refused = async () => JSON.parse((await ask(world, { request })).text)
  const reported = { reason: 'not_a_write_topic', door: 'mqtt', excerpt: payload }
  // What came at QoS 0 is noted when nobody waits for it.
  await expect.poll(refused).toContainEqual(expect.objectContaining(reported))
}

/** To one who may see all there is, and subscribes after. */
async function expectNotRetained(world: World, way: Way, topic: string): Promise<void> {
  const { victim, own } = world.cast
  const late = await login(world, way, world.server.adminKey)
  await late.subscribeAll(
    [victim, own].flatMap(({ thingId }) => [`things/${thingId}/#`, `v2/things/${thingId}`]),
    1,
  )
  const messages = await messagesOf(late)
  expect(messages.filter(isMessageOn(topic)).map(({ payload }) => payload.toString())).not.toContain('')
  const forged = messages.filter(({ payload }) => payload.includes('forged'))
  // What was written to the attacker's own thing is there as a record, on the topic of its resource.
  for (const message of forged) expect(message.topic).toBe(`things/${own.thingId}/values/forged`)
  await late.disconnect()
}
