import { expect, it } from 'vitest'
import type { RefusedWrite } from '../doors/read-back.ts'
import { ask, readAll, type Thing } from '../helpers/http-client.ts'
import {
  type ConnectOptions,
  connectMqtt,
  isMessageOn,
  isOf,
  type MqttAddress,
} from '../helpers/mqtt-client.ts'
import { ofTests, serverOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type Cast, castOf, type Operator, operatorOf, victimsMark } from './cast.ts'

/** The ways to the MQTT door: 4 is MQTT 3.1.1. */
export const ways = ([4, 5] as const).flatMap(protocolVersion =>
  (['TCP', 'WebSocket'] as const).map(transport => ({ transport, protocolVersion })),
)
export type Way = (typeof ways)[number]

/** The same transport in each version. */
export function versionsOf({ transport }: Pick<Way, 'transport'>): readonly Way[] {
  return ways.filter(way => way.transport === transport)
}

/** A server that can be another one of the same data later. */
export interface RunningServer {
  readonly server: ServerProcess
  readonly operator: Operator
}

/** A server in a process of its own, everybody who is known to it, and the victim at work. */
export interface World extends RunningServer {
  readonly cast: Cast
  readonly neighbour: Neighbour
  /** Things that must hold no forgery when all is over: what must not be done might be done late. */
  readonly unforged: Thing[]
  /** Texts that no answer may have. */
  readonly secrets: readonly string[]
}

/** No limit on guesses, which would hide something, and topics beside those of things. */
export const environment = {
  THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1000000',
  THINGWIRE_TOPICS: 'house/#',
}

export type IsolationTests = ReturnType<typeof isolationTests>

/**
 * Nobody gets in where they do not belong: the tests of a file, against one server, with a healthy neighbour at work from the
 * first to the last. After each it is still at work, and behind the last it was disturbed by none of them.
 */
export function isolationTests() {
  const server = serverOfTests({ environment })
  const opened = ofTests(
    () => openWorld(server()),
    async ({ neighbour, unforged }) => {
      await neighbour.expectUntouched()
      for (const thing of unforged) await expectUnforged({ server: server() }, thing)
    },
  )
  const all = new Set<string>()
  const test = (name: string, run: (world: World) => Promise<void>) =>
    it(name, async () => {
      await run(opened)
      await opened.neighbour.probe()
    })
  // A row that is there twice would be counted for two tricks.
  const add = (name: string, tried: object = { name }) => {
    for (const text of [name, JSON.stringify(tried)]) {
      if (all.has(text)) throw new Error(`this is tried twice: ${name}`)
      all.add(text)
    }
  }
  const over =
    (some: readonly Way[]) =>
    (name: string, run: (world: World, way: Way) => Promise<void>, tried?: object): void => {
      add(name, tried)
      for (const way of some) test(`${name}, over ${spelled(way)}`, world => run(world, way))
    }
  return {
    /** A test over HTTP. */
    http(name: string, run: (world: World) => Promise<void>, tried?: object): void {
      add(name, tried)
      test(name, run)
    },
    /** A test of each way to the MQTT door. */
    mqtt: over(ways),
    /** A test of those that only version 5 knows. */
    mqtt5: over(ways.filter(({ protocolVersion }) => protocolVersion === 5)),
  }
}

/** For names, such as `TCP in 3.1.1`. */
export function spelled({ transport, protocolVersion }: Way): string {
  return `${transport} in ${protocolVersion === 5 ? '5' : '3.1.1'}`
}

async function openWorld(server: ServerProcess): Promise<World> {
  const operator = operatorOf(server)
  const cast = await castOf(operator)
  const neighbour = await openNeighbour(server, cast)
  const { words } = cast
  const secrets = [
    ...[cast.victim.thingToken, server.adminKey],
    ...[words['read session of victim'], words['write session of victim'], words['fresh code']],
  ]
  return { server, operator, cast, neighbour, unforged: [], secrets }
}

/** @throws Error if a forgery was written to the thing */
export async function expectUnforged({ server }: Pick<World, 'server'>, thing: Thing): Promise<void> {
  expect(await resourcesOf(server, thing)).not.toContain('forged')
}

async function resourcesOf(server: ServerProcess, { thingToken }: Thing): Promise<string[]> {
  const path = `/v2/things/${thingToken}/resources`
  return (await ask<{ resources: string[] }>(server, 'GET', path)).resources
}

/** Whether it is of the victim's own, or of the write session that is the victim's: with a will that may not be. */
function isOwn({ excerpt, message }: RefusedWrite): boolean {
  return excerpt.includes(victimsMark) || /^CONNACK (?:5|0x87): the will is on /.test(message)
}

/** Beside those of things: nobody else may read or write it. */
const victimsTopic = 'house/victim/state'

type Neighbour = Awaited<ReturnType<typeof openNeighbour>>

/**
 * The victim's own publisher and subscriber, and others who may see the victim, in both versions. All keep one connection all the
 * while; it is known what was written and what must have been received. Answers to the publisher are for it alone. Begins with the victim's position and settings, and one
 * write that is refused.
 */
async function openNeighbour(server: ServerProcess, { victim, words }: Cast) {
  const thing = { username: 'victim', password: victim.thingToken }
  const session = { username: 'reader', password: words['read session of victim'], clean: false }
  const admin = { username: 'operator', password: server.adminKey }
  const version5 = { protocolVersion: 5, properties: { sessionExpiryInterval: 3_600 } } as const
  const connect = (options: ConnectOptions & Partial<MqttAddress>) =>
    connectMqtt({ url: server.mqttUrl, ...options })
  const publisher = await connect({ ...thing, ...version5, clientId: 'station' })
  const subscriber = await connect({ ...thing, clientId: 'display', clean: false })
  const anonymous = await connect({ clientId: 'sensor' })
  const others = [
    await connect({ ...session, ...version5, clientId: 'dashboard' }),
    await connect({ ...admin, ...version5, clientId: 'console' }),
    anonymous,
  ]
  const written: string[] = []
  let refusedCount = 0
  const topic = (rest: string) => `things/${victim.thingToken}/${rest}`
  const errors = () =>
    ask<readonly RefusedWrite[]>(server, 'GET', `/v2/things/${victim.thingToken}/errors?limit=100`)
  const textOf = ({ payload }: { readonly payload: Buffer | string }) => String(payload)

  /** One write goes from the publisher to the subscriber as ever, and everybody is still connected. */
  const probe = async () => {
    const value = `${written.length} ${victimsMark}`
    written.push(value)
    const properties = { topicAlias: 1, responseTopic: topic('answers/station') }
    await publisher.publish('', { values: [{ key: 'temperature', value }] }, { properties })
    await publisher.next(isMessageOn(topic('answers/station')))
    const isIt = isMessageOn(topic('values/temperature'))
    await subscriber.next(packet => isIt(packet) && packet.payload.includes(value))
    await publisher.publish(victimsTopic, value, { retain: true })
    await subscriber.next(packet => isMessageOn(victimsTopic)(packet) && textOf(packet) === value)
    await Promise.all(others.map(client => client.ping()))
  }

  /** One write that is refused is reported to the victim; whoever else listens for errors would get it. */
  const probeErrors = async () => {
    refusedCount += 1
    await publisher.publish(topic('write'), `${refusedCount} ${victimsMark}`)
    // The message itself is one of ten a second at most; the list has all.
    const [newest] = await errors()
    expect(newest).toMatchObject({ reason: 'invalid_json', excerpt: `${refusedCount} ${victimsMark}` })
  }

  /** Exactly what the victim wrote was stored, and was received on the one connection, each once, in order. */
  const expectUntouched = async () => {
    const stored = await readAll(server, victim, 'temperature')
    expect(stored.map(record => record.value).reverse()).toEqual(written)
    expect((await resourcesOf(server, victim)).sort()).toEqual(['$geo', '$meta', '$settings', 'temperature'])
    for (const key of ['$geo', '$settings', '$meta']) {
      expect(await readAll(server, victim, key), key).toHaveLength(1)
    }
    expect((await errors()).filter(refused => !isOwn(refused))).toEqual([])
    for (const client of others) {
      await client.ping()
      const writes = client.received.filter(isOf('publish')).map(message => JSON.parse(textOf(message)))
      const values = (writes as { key: string; value: unknown }[][]).flat()
      expect(values.filter(({ key }) => !key.startsWith('$')).map(({ value }) => value)).toEqual(written)
    }
    const answers = publisher.received.filter(isMessageOn(topic('answers/station')))
    expect(answers.map(textOf)).toEqual(written.map(() => expect.stringContaining('"created"')))
    await subscriber.ping()
    const live = subscriber.received.filter(isMessageOn(topic('values/temperature')))
    expect(live.map(message => JSON.parse(textOf(message)).value)).toEqual(written)
    expect(subscriber.received.filter(isMessageOn(victimsTopic)).map(textOf)).toEqual(written)
    const topics = subscriber.received.filter(isOf('publish')).map(message => message.topic)
    const expected = ['temperature', '$geo', '$settings', '$meta'].map(key => topic(`values/${key}`))
    // Not the topics, which would be printed with the token.
    const named = (text: string) => text.replace(victim.thingToken, '<token>')
    expect(new Set(topics.map(named))).toEqual(
      new Set([...expected, topic('errors'), topic('date'), victimsTopic].map(named)),
    )
  }

  expect(await subscriber.subscribe(topic('#'), 1)).toBe(1)
  expect(await subscriber.subscribe('house/victim/#', 1)).toBe(1)
  expect(await publisher.subscribe(topic('answers/station'), 1)).toBe(1)
  for (const client of others) {
    const ref = client === anonymous ? victim.thingToken : victim.thingId
    expect(await client.subscribe(`v2/things/${ref}`, 1)).toBe(1)
  }
  const first = {
    values: [
      { key: '$geo', value: [2.22, 41.41] },
      { key: '$settings', value: { owner: victimsMark } },
      { key: '$meta', value: { temperature: { name: victimsMark } } },
    ],
  }
  await publisher.publish(topic('write'), first, { properties: { topicAlias: 1 } })
  for (const rest of ['values/$geo', 'values/$settings', 'values/$meta'])
    await subscriber.next(isMessageOn(topic(rest)))
  await probeErrors()
  await subscriber.next(isMessageOn(topic('errors')))
  await probe()
  return { probe, probeErrors, expectUntouched }
}
