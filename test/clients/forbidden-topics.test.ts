import { describe, expect, it } from 'vitest'
import { retainedName, topicQueueOf, topicSessionName } from '../../src/mqtt/relay/documents.ts'
import type { Thing } from '../helpers/http-client.ts'
import type { ConnectOptions } from '../helpers/mqtt-client.ts'
import { DoorService, eventually } from '../mqtt/door-service.ts'
import { everything } from '../mqtt/relay/house.ts'
import { Program } from './program.ts'

/** By lines, so that what it says is heard when it says it. */
const mosquittoSub = { command: 'stdbuf', debianPackage: 'coreutils mosquitto-clients' }

/** Of each kind that libmosquitto does not take, the first and the last. */
const forbidden = [
  ...['\x01', '\t', '\n', '\r', '\x1b', '\x1f', '\x7f', '\x80', '\x9b', '\x9f'],
  ...['\ufdd0', '\ufdef', '\ufffe', '\uffff', '\u{1fffe}', '\u{1ffff}', '\u{10fffe}', '\u{10ffff}'],
]
/** Beside them, what it takes. */
const allowed = [
  ...[' ', '~', '\xa0', 'ü', '\ufdcf', '\ufdf0', '\ufeff', '\ufffd', '\ue000'],
  ...['\u{10000}', '\u{1fffd}', '\u{20000}', '\u{10fffd}'],
]
const topicWith = (character: string) => `house/k${character}/STATE`

async function start() {
  const service = await DoorService.start({ topics: ['house/#'] })
  return { service, ...(await house(service)) }
}

async function house(service: DoorService) {
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, everything)
  return { thing }
}

/** mosquitto_sub on everything that is relayed. @returns resolves when it has what was published before, with all topics that it got */
async function subscribe(service: DoorService, { thingToken }: Thing, ...args: string[]) {
  const { hostname, port } = new URL(service.mqttUrl)
  const address = ['-h', hostname, '-p', port, '-u', thingToken, '-q', '2', '-d']
  const program = new Program(mosquittoSub, [
    ...['-oL', 'mosquitto_sub', ...address, '-F', 'heard %t', '-t', 'house/#'],
    ...args,
  ])
  await program.said(/^Subscribed/m)
  return async () => {
    const publisher = await service.connect({ username: thingToken })
    // It finds this one, too, if it was cut off before.
    const end = `house/end/${ends++}`
    await publisher.publish(end, 'x', { retain: true })
    await program.said(new RegExp(`^heard ${end}$`, 'm'))
    await program.end('SIGKILL')
    const { output } = await program.exited
    const topics = [...output.matchAll(/^heard (.*)$/gm)].map(([, topic]) => topic)
    return {
      connects: output.match(/sending CONNECT/g)?.length,
      topics: topics.filter(topic => !topic?.startsWith('house/end/')),
    }
  }
}

let ends = 0
const notCut = { connects: 1, topics: [] }
const messagesOf = async (service: DoorService, { thingId }: Thing) =>
  (await service.things.refused.list(thingId, 100))
    .map(({ reason, message }) => `${reason}: ${message}`)
    .reverse()

const spelled = (character: string) => {
  const number = character.codePointAt(0)?.toString(16) ?? ''
  return number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, '0')}`
}
const listed = forbidden.map(
  character =>
    `not_a_write_topic: this client may not publish on \`house/k${spelled(character)}/STATE\`: ` +
    'a topic with a control character or a noncharacter would disconnect clients that use libmosquitto, such as mosquitto_sub.',
)

describe('a publish on a topic that libmosquitto does not take', () => {
  it.each([
    ['MQTT', { qos: 0 }],
    ['MQTT', { qos: 1 }],
    ['MQTT', { qos: 2 }],
    ['MQTT', { qos: 0, retain: true }],
    ['MQTT', { qos: 1, retain: true }],
    ['MQTT', { qos: 2, retain: true }],
    ['WebSocket', { qos: 1, retain: true }],
  ] as const)('is acknowledged, dropped and listed over %s, %j', async (way, options) => {
    const { service, thing } = await start()
    const heard = await subscribe(service, thing)
    const url = way === 'MQTT' ? service.mqttUrl : service.webSocketUrl
    const device = await service.connect({ url, username: thing.thingToken })
    for (const character of forbidden) await device.publish(topicWith(character), 'ON', options)
    await device.ping()
    await eventually(() => messagesOf(service, thing)).toEqual(listed)
    expect(await heard()).toEqual(notCut)
    // Nor is one there for who subscribes later.
    expect(await (await subscribe(service, thing))()).toEqual(notCut)
  })

  it('is no other one', async () => {
    const { service, thing } = await start()
    const heard = await subscribe(service, thing)
    const device = await service.connect({ username: thing.thingToken })
    for (const character of allowed) await device.publish(topicWith(character), 'ON')
    expect(await heard()).toEqual({ connects: 1, topics: allowed.map(topicWith) })
    expect(await messagesOf(service, thing)).toEqual([])
  })
})

describe('a will on a topic that libmosquitto does not take', () => {
  it.each(forbidden.map(character => [spelled(character), character]))(
    'is refused and listed: %s',
    async (spelling, character) => {
      const { service, thing } = await start()
      const will: ConnectOptions['will'] = { topic: topicWith(character), payload: 'gone', retain: true }
      expect((await service.connectThing(thing, { will })).connack.returnCode).toBe(5)
      await eventually(() => messagesOf(service, thing)).toEqual([
        `connect_refused: CONNACK 5: the will is on \`house/k${spelling}/STATE\`: a topic with a control character or a noncharacter ` +
          'would disconnect clients that use libmosquitto, such as mosquitto_sub.',
      ])
    },
  )

  it('is dropped if an older build has taken it', async () => {
    const { service, thing } = await start()
    const heard = await subscribe(service, thing)
    const will = { topic: 'house/will', payload: 'gone', qos: 1 } as const
    const client = await service.connectThing(thing, { will })
    const [name = ''] = await service.documents('mqtt-wills/')
    const kept = (await service.things.documents.get(name)) as object
    await client.destroy()
    await eventually(() => service.documents('mqtt-wills/')).toEqual([])
    await service.things.documents.put(
      {
        [name]: { ...kept, isLeft: true, message: { topic: 'house/\r', qos: 1, isRetained: true } },
      },
      'keep',
    )
    expect(await heard()).toEqual({ connects: 1, topics: ['house/will'] })
    const restarted = await service.restart({ topics: ['house/#'], willGrace: 0 })
    await eventually(() => restarted.documents('mqtt-wills/')).toEqual([])
    expect(await (await subscribe(restarted, thing))()).toEqual(notCut)
  })
})

describe('what an older build has kept on a topic that libmosquitto does not take', () => {
  it('is delivered to nobody, and is gone: retained messages and queues', async () => {
    const { service, thing } = await start()
    const clientId = `thing.${thing.thingId}:ha`
    const session = ['-i', 'ha', '-c']
    expect(await (await subscribe(service, thing, ...session))()).toEqual(notCut)
    const older = async (of: DoorService) =>
      (await of.documents('topic-queue/')).filter(name => name.includes('.older'))
    const kept = forbidden.map((character, order) => {
      const message = { topic: topicWith(character), payload: 'T04=', qos: (order % 2) + 1 }
      return { [retainedName(message.topic)]: message, [copyName(clientId, order + 1)]: message }
    })
    await service.things.documents.put(Object.assign({}, ...kept), 'keep')
    const restarted = await service.restart({ topics: ['house/#'] })
    expect(await restarted.documents('topic-retained/')).toHaveLength(1)
    expect(await (await subscribe(restarted, thing, ...session))()).toEqual(notCut)
    await eventually(() => older(restarted)).toEqual([])
  })

  it('is no subscription of its session any more', async () => {
    const { service, thing } = await start()
    const clientId = 'ha'
    const client = await service.connectThing(thing, { clientId, clean: false })
    await client.subscribeTo({ topic: 'house/a', qos: 1 })
    await client.disconnect()
    const filters = ['house/a', 'house/\r/#'].map(filter => ({ filter, qos: 1 }))
    const name = topicSessionName(`thing.${thing.thingId}:${clientId}`)
    await service.things.documents.put({ [name]: { subscriptions: filters } }, 'keep')
    const restarted = await service.restart({ topics: ['house/#'] })
    await restarted.connectThing(thing, { clientId, clean: false })
    expect(await restarted.things.documents.get(name)).toMatchObject({ subscriptions: filters.slice(0, 1) })
  })
})

describe('a filter that libmosquitto does not take', () => {
  it('is refused and listed in a SUBSCRIBE', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing)
    const filters = forbidden.map(character => `house/${character}/#`)
    expect(await client.subscribeAll(filters)).toEqual(forbidden.map(() => 128))
    await eventually(() => messagesOf(service, thing)).toEqual([
      expect.stringMatching(
        /^subscription_refused: SUBSCRIBE .*`house\/\\u0001\/#`.*: a topic with a control character/,
      ),
    ])
  })

  it('is no grant', async () => {
    const { service, thing } = await start()
    for (const character of forbidden) {
      const setting = service.things.registry.setTopics(thing.thingId, [
        { filter: `house/${character}/#`, access: 'read' },
      ])
      await expect(setting).rejects.toThrow(
        `"house/${spelled(character)}/#" has a character that no topic may have`,
      )
    }
  })

  it('activates nothing', async () => {
    const { service } = await start()
    const [code = ''] = await service.things.activationCodes.create({ count: 1, uses: 1 })
    const client = await service.connect()
    for (const character of forbidden)
      expect(await client.subscribe(`v2/activations/${code}/${character}`)).toBe(128)
    expect(await client.subscribe(`v2/activations/${code}/1`)).toBe(1)
  })
})

/** The name of a session's own copy of a message, as builds before format 4 had it. */
function copyName(clientId: string, order: number): string {
  return `${topicQueueOf(clientId)}${String(order).padStart(16, '0')}.older`
}
