import { afterAll, beforeAll, expect, it } from 'vitest'
import { readAll, type Thing } from '../helpers/http-client.ts'
import {
  type ConnectOptions,
  connectMqtt,
  isMessageOn,
  isOf,
  type MqttClient,
} from '../helpers/mqtt-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { type Cast, castOf, Operator, victimsMark } from './cast.ts'

/** The ways to the MQTT door. */
export const ways = ['TCP', 'WebSocket'] as const
export type Way = (typeof ways)[number]

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

export interface IsolationTests {
  /** A test over HTTP. */
  http(name: string, run: (world: World) => Promise<void>, tried?: object): void
  /** A test of each way to the MQTT door. */
  mqtt(name: string, run: (world: World, way: Way) => Promise<void>, tried?: object): void
}

/**
 * Nobody gets in where they do not belong: the tests of a file, against one server, with a healthy neighbour at work from the
 * first to the last. After each it is still at work, and behind the last it was disturbed by none of them.
 */
export function isolationTests(): IsolationTests {
  const server = serverOfTests({ environment })
  let opened: World | undefined
  beforeAll(async () => {
    opened = await openWorld(server())
  })
  afterAll(async () => {
    await opened?.neighbour.expectUntouched()
    for (const thing of opened?.unforged ?? []) await expectUnforged({ server: server() }, thing)
  })
  const all = new Set<string>()
  const test = (name: string, run: (world: World) => Promise<void>) =>
    it(name, async () => {
      if (!opened) throw new Error('no test is running')
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
  return {
    http(name, run, tried) {
      add(name, tried)
      test(name, run)
    },
    mqtt(name, run, tried) {
      add(name, tried)
      for (const way of ways) test(`${name}, over ${way}`, world => run(world, way))
    },
  }
}

async function openWorld(server: ServerProcess): Promise<World> {
  const operator = new Operator(server)
  const cast = await castOf(operator)
  const neighbour = await Neighbour.open(server, cast)
  const { words } = cast
  const secrets = [
    ...[cast.victim.thingToken, server.adminKey],
    ...[words['read session of victim'], words['write session of victim'], words['fresh code']],
  ]
  return { server, operator, cast, neighbour, unforged: [], secrets }
}

/** @throws Error if a forgery was written to the thing */
export async function expectUnforged(
  { server }: Pick<World, 'server'>,
  { thingToken }: Thing,
): Promise<void> {
  const response = await fetch(`${server.url}/v2/things/${thingToken}/resources`)
  expect(response.status).toBe(200)
  expect(((await response.json()) as { resources: string[] }).resources).not.toContain('forged')
}

interface ListedRefusal {
  readonly reason: string
  readonly message: string
  readonly excerpt: string
}

/** Whether it is of the victim's own, or of the write session that is the victim's: with a will that may not be. */
function isOwn({ excerpt, message }: ListedRefusal): boolean {
  return excerpt.includes(victimsMark) || message.startsWith('CONNACK 5: the will is on ')
}

/** Beside those of things: nobody else may read or write it. */
const victimsTopic = 'house/victim/state'

/**
 * The victim's own publisher and subscriber, and others who may see the victim. All keep one connection all the while;
 * it is known what was written and what must have been received.
 */
class Neighbour {
  readonly #server: ServerProcess
  readonly #victim: Thing
  readonly #publisher: MqttClient
  readonly #subscriber: MqttClient
  readonly #others: readonly MqttClient[]
  readonly #written: string[] = []
  #refused = 0

  private constructor(
    server: ServerProcess,
    { victim }: Cast,
    [publisher, subscriber, ...others]: readonly [MqttClient, MqttClient, ...MqttClient[]],
  ) {
    this.#server = server
    this.#victim = victim
    this.#publisher = publisher
    this.#subscriber = subscriber
    this.#others = others
  }

  /** Writes the victim's position and settings too, and one write that is refused. */
  static async open(server: ServerProcess, cast: Cast): Promise<Neighbour> {
    const thing = { username: 'victim', password: cast.victim.thingToken }
    const session = { username: 'reader', password: cast.words['read session of victim'], clean: false }
    const admin = { username: 'operator', password: server.adminKey }
    const connect = (options: ConnectOptions) => connectMqtt({ url: server.mqttUrl, ...options })
    const neighbour = new Neighbour(server, cast, [
      await connect({ ...thing, clientId: 'station' }),
      await connect({ ...thing, clientId: 'display', clean: false }),
      await connect({ ...session, clientId: 'dashboard' }),
      await connect({ ...admin, clientId: 'console' }),
      await connect({ clientId: 'sensor' }),
    ])
    await neighbour.#begin()
    return neighbour
  }

  /** One write goes from the publisher to the subscriber as ever, and everybody is still connected. */
  async probe(): Promise<void> {
    const value = `${this.#written.length} ${victimsMark}`
    this.#written.push(value)
    await this.#publisher.publish(this.#topic('write'), { values: [{ key: 'temperature', value }] })
    const isIt = isMessageOn(this.#topic('values/temperature'))
    await this.#subscriber.next(packet => isIt(packet) && packet.payload.includes(value))
    await this.#publisher.publish(victimsTopic, value, { retain: true })
    await this.#subscriber.next(
      packet => isMessageOn(victimsTopic)(packet) && String(packet.payload) === value,
    )
    await Promise.all(this.#others.map(client => client.ping()))
  }

  /** One write that is refused is reported to the victim; whoever else listens for errors would get it. */
  async probeErrors(): Promise<void> {
    this.#refused += 1
    await this.#publisher.publish(this.#topic('write'), `${this.#refused} ${victimsMark}`)
    // The message itself is one of ten a second at most; the list has all.
    const [newest] = await this.#errors()
    expect(newest).toMatchObject({ reason: 'invalid_json', excerpt: `${this.#refused} ${victimsMark}` })
  }

  /** Exactly what the victim wrote was stored, and was received on the one connection, each once, in order. */
  async expectUntouched(): Promise<void> {
    const { url } = this.#server
    const stored = await readAll(this.#server, this.#victim, 'temperature')
    expect(stored.map(record => record.value).reverse()).toEqual(this.#written)
    const resources = await fetch(`${url}/v2/things/${this.#victim.thingToken}/resources`)
    expect(((await resources.json()) as { resources: string[] }).resources.sort()).toEqual([
      '$geo',
      '$settings',
      'temperature',
    ])
    for (const key of ['$geo', '$settings']) {
      expect(await readAll(this.#server, this.#victim, key), key).toHaveLength(1)
    }
    expect((await this.#errors()).filter(refused => !isOwn(refused))).toEqual([])
    for (const client of this.#others) {
      await client.ping()
      const writes = client.received
        .filter(isOf('publish'))
        .map(({ payload }) => JSON.parse(payload.toString()))
      const values = (writes as { key: string; value: unknown }[][]).flat()
      expect(values.filter(({ key }) => !key.startsWith('$')).map(({ value }) => value)).toEqual(
        this.#written,
      )
    }
    await this.#subscriber.ping()
    const live = this.#subscriber.received.filter(isMessageOn(this.#topic('values/temperature')))
    const values = live.map(({ payload }) => (JSON.parse(payload.toString()) as { value: string }).value)
    expect(values).toEqual(this.#written)
    const relayed = this.#subscriber.received.filter(isMessageOn(victimsTopic))
    expect(relayed.map(({ payload }) => String(payload))).toEqual(this.#written)
    const others = this.#subscriber.received
      .filter(isOf('publish'))
      .map(({ topic }) => topic.replace(this.#victim.thingToken, '<token>'))
    expect(new Set(others)).toEqual(
      new Set(
        ['values/temperature', 'values/$geo', 'values/$settings', 'errors', 'date']
          .map(rest => `things/<token>/${rest}`)
          .concat(victimsTopic),
      ),
    )
  }

  async #begin(): Promise<void> {
    expect(await this.#subscriber.subscribe(this.#topic('#'), 1)).toBe(1)
    expect(await this.#subscriber.subscribe('house/victim/#', 1)).toBe(1)
    for (const client of this.#others) {
      // The last has no other credential.
      const ref = client === this.#others.at(-1) ? this.#victim.thingToken : this.#victim.thingId
      expect(await client.subscribe(`v2/things/${ref}`, 1)).toBe(1)
    }
    await this.#publisher.publish(this.#topic('write'), {
      values: [
        { key: '$geo', value: [2.22, 41.41] },
        { key: '$settings', value: { owner: victimsMark } },
      ],
    })
    await this.#subscriber.next(isMessageOn(this.#topic('values/$geo')))
    await this.#subscriber.next(isMessageOn(this.#topic('values/$settings')))
    await this.probeErrors()
    await this.#subscriber.next(isMessageOn(this.#topic('errors')))
    await this.probe()
  }

  #topic(rest: string): string {
    return `things/${this.#victim.thingToken}/${rest}`
  }

  async #errors(): Promise<readonly ListedRefusal[]> {
    const response = await fetch(`${this.#server.url}/v2/things/${this.#victim.thingToken}/errors?limit=100`)
    expect(response.status).toBe(200)
    return (await response.json()) as ListedRefusal[]
  }
}
