import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type Session, type Thing } from '../helpers/http-client.ts'
import { nodesOfTests, pathOfTest, serverOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { everything } from '../mqtt/relay/house.ts'
import type { LiveClient, Outgoing, Publish, Subscriber, Subscribing, Version } from './client.ts'
import { mosquittoPub, mosquittoSub, mosquittoVersion } from './mosquitto.ts'
import { mqttJs, publishByMqttJs } from './mqtt-js.ts'
import { paho, publishByPaho } from './paho.ts'

/** Every duty of a broker for other topics, with every client in both versions, on every store. */

const setup = { environment: { THINGWIRE_TOPICS: 'house/#', THINGWIRE_DRAIN_TIMEOUT: '60000' } }
const alone = serverOfTests(setup)
const nodes = nodesOfTests(2, setup)

const stores = [
  { name: 'the embedded store', servers: () => ({ here: alone(), there: alone() }) },
  { name: 'Redis with two processes', servers: () => ({ here: nodes.node(0), there: nodes.node(1) }) },
]

/** Servers that relay `house/#`, and credentials of clients that may use all of it. */
interface House {
  /** Where publishers connect. */
  readonly here: ServerProcess
  /** Where subscribers connect: another node, if there are two. */
  readonly there: ServerProcess
  /** Of a thing. */
  readonly token: string
  /** Of a session. */
  readonly password: string
}

/** Both sides of one client program or library. */
interface ClientDriver {
  readonly name: 'mosquitto' | 'paho' | 'mqtt.js'
  readonly version: Version
  readonly subscribe: LiveClient['subscribe']
  readonly publish: Publish
}

const clientDrivers = ([4, 5] as const).flatMap((version): readonly ClientDriver[] => [
  {
    ...{ name: 'mosquitto', version, publish: mosquittoPub },
    subscribe: mosquittoSub(mosquittoVersion(version)).subscribe,
  },
  { name: 'paho', version, publish: publishByPaho, subscribe: paho('tcp', version).subscribe },
  { name: 'mqtt.js', version, publish: publishByMqttJs, subscribe: mqttJs('TCP', version).subscribe },
])

type Options = Omit<Subscribing, 'filters' | 'qos' | 'username' | 'password' | 'leavesAfter'>

/** One duty with the clients of one kind. `base` begins every topic of it. */
class Stage {
  readonly base: string
  readonly house: House
  readonly #client: ClientDriver
  #marks = 0

  constructor(client: ClientDriver, house: House, base: string) {
    this.#client = client
    this.house = house
    this.base = base
  }

  /** Resolves when all that is above QoS 0 is acknowledged. */
  publish(...messages: readonly Outgoing[]): Promise<void> {
    const { here, token } = this.house
    return this.#client.publish(here, token, messages, this.#client.version)
  }

  /** Publishes what is refused, of which version 5 alone tells the publisher. */
  async publishInVain(message: Outgoing): Promise<void> {
    if (this.#client.version === 5) await expect(this.publish(message)).rejects.toThrow()
    else await this.publish(message)
  }

  /** mosquitto_sub sends DISCONNECT with its will (0x04) when it is told to end. */
  get leavesItsWill(): boolean {
    return this.#client.name === 'mosquitto' && this.#client.version === 5
  }

  /** What SUBACK says of a filter that is refused. @param code of version 5 */
  refused(code = 0x87): number {
    return this.#client.version === 5 ? code : 128
  }

  /** What stands before the payload in a PUBLISH, bytes. */
  headOf(topic: string): number {
    // The topic with its length, a packet id, and in version 5 the length of no properties.
    return 2 + topic.length + 2 + (this.#client.version === 5 ? 1 : 0)
  }

  /** A client id of this duty. */
  clientId(name: string): string {
    return `${this.base}-${name}`
  }

  /** Resolves at SUBACK. @param server default: there */
  subscribe(
    filters: readonly string[],
    qos: 0 | 1 | 2,
    options: Options = {},
    server = this.house.there,
  ): Promise<Subscriber> {
    const { password } = this.house
    return this.#client.subscribe(server, { filters, qos, username: 'x', password, ...options })
  }

  /** Publishes a mark, and resolves when they have it: what was acknowledged to a publisher before, they have, too. */
  async mark(topic: string, ...subscribers: readonly Subscriber[]): Promise<void> {
    const text = `mark ${this.#marks++}`
    // A client shows a message of QoS 2 when it is released, perhaps behind one of QoS 1 that came after it.
    await this.publish({ topic, payload: text, qos: 2 })
    await Promise.all(subscribers.map(({ inbox }) => inbox.until(({ payload }) => payload === text)))
  }
}

/** What a client has shown so far, as `topic payload qos`, with `retained` if it was; marks left out. */
function shownBy({ inbox }: Subscriber): string[] {
  return inbox.messages
    .filter(({ payload }) => !payload.startsWith('mark '))
    .map(({ topic, payload, qos, retain }) => `${topic} ${payload} ${qos}${retain ? ' retained' : ''}`)
}

/** What a broker owes its clients (MQTT 3.1.1 and 5), as programs show it that nobody here wrote. */
interface Duty {
  readonly name: string
  run(stage: Stage): Promise<void>
}

const levels = [0, 1, 2] as const
const maxPacketSize = 1_048_576
/** Nothing listens there. */
const deadPort = 1

const duties: readonly Duty[] = [
  {
    name: 'a message comes at the lesser QoS of message and subscription',
    async run(stage) {
      const { base } = stage
      const subscribers = await Promise.all(levels.map(qos => stage.subscribe([`${base}/#`], qos)))
      expect(subscribers.map(({ granted }) => granted)).toEqual([[0], [1], [2]])
      await stage.publish(...levels.map(qos => ({ topic: `${base}/a`, payload: `${qos}`, qos })))
      await Promise.all(subscribers.map(({ inbox }) => inbox.first(levels.length)))
      await stage.mark(`${base}/a`, ...subscribers)
      for (const [asked, subscriber] of subscribers.entries()) {
        const expected = levels.map(qos => `${base}/a ${qos} ${Math.min(asked, qos)}`)
        expect(shownBy(subscriber).toSorted()).toEqual(expected)
      }
    },
  },
  {
    name: 'messages of one client at one QoS come in their order, each once',
    async run(stage) {
      const { base } = stage
      const subscribers = await Promise.all([
        stage.subscribe([`${base}/#`], 2),
        stage.subscribe([`${base}/#`], 2, { clientId: stage.clientId('order') }),
      ])
      const lines = Array.from({ length: 50 }, (_, n) => String(n))
      for (const qos of levels) {
        const topic = `${base}/${qos}`
        await stage.publish(...lines.map(payload => ({ topic, payload, qos })))
        const isLast = (message: { topic: string; payload: string }) =>
          message.topic === topic && message.payload === lines.at(-1)
        await Promise.all(subscribers.map(({ inbox }) => inbox.until(isLast)))
      }
      await stage.mark(`${base}/end`, ...subscribers)
      const expected = levels.flatMap(qos => lines.map(line => `${base}/${qos} ${line} ${qos}`))
      for (const subscriber of subscribers) expect(shownBy(subscriber)).toEqual(expected)
    },
  },
  {
    name: 'a retained message comes to whoever subscribes later, and is replaced and removed',
    async run(stage) {
      const { base } = stage
      const retained = (name: string, payload: string): Outgoing => {
        return { topic: `${base}/${name}`, payload, qos: 1, retain: true }
      }
      const before = await stage.subscribe([`${base}/#`], 1)
      await stage.publish(retained('a', 'old'), retained('a', 'new'), retained('b', 'b'))
      await stage.publish({ topic: `${base}/c`, payload: 'not retained', qos: 1 })
      await before.inbox.first(4)
      expect(shownBy(before)).toEqual([
        `${base}/a old 1`,
        `${base}/a new 1`,
        `${base}/b b 1`,
        `${base}/c not retained 1`,
      ])
      const after = await stage.subscribe([`${base}/#`], 1)
      await stage.mark(`${base}/end`, after)
      expect(shownBy(after).toSorted()).toEqual([`${base}/a new 1 retained`, `${base}/b b 1 retained`])
      await stage.publish(retained('a', ''))
      await stage.mark(`${base}/end`, after)
      expect(shownBy(after).at(-1)).toBe(`${base}/a  1`)
      const last = await stage.subscribe([`${base}/#`], 1)
      await stage.mark(`${base}/end`, last)
      expect(shownBy(last)).toEqual([`${base}/b b 1 retained`])
    },
  },
  {
    name: 'a will comes when its client is lost, and not when it takes leave',
    async run(stage) {
      const { base, house } = stage
      const topic = `${base}/will`
      const watcher = await stage.subscribe([`${base}/#`], 2)
      const connect = (payload: string) => {
        const will = { topic, payload, qos: 2, retain: true } as const
        return stage.subscribe([`${base}/none`], 0, { will }, house.here)
      }
      await (await connect('left')).leave()
      await (await connect('lost')).kill()
      await watcher.inbox.first(1)
      await stage.mark(`${base}/end`, watcher)
      const left = stage.leavesItsWill ? [`${topic} left 2`] : []
      expect(shownBy(watcher)).toEqual([...left, `${topic} lost 2`])
      const later = await stage.subscribe([topic], 1)
      await later.inbox.first(1)
      expect(shownBy(later)).toEqual([`${topic} lost 1 retained`])
    },
  },
  {
    name: 'a session finds what was published at QoS 1 and 2 while it was away, in order and once',
    async run(stage) {
      const { base, house } = stage
      const clientId = stage.clientId('away')
      const filters = [`${base}/#`]
      await (await stage.subscribe(filters, 2, { clientId })).kill()
      const lines = Array.from({ length: 20 }, (_, n) => String(n))
      await stage.publish({ topic: `${base}/0`, payload: 'not kept', qos: 0 })
      for (const qos of [1, 2] as const) {
        await stage.publish(...lines.map(payload => ({ topic: `${base}/${qos}`, payload, qos })))
      }
      // At the other node, and back.
      const second = await stage.subscribe(filters, 2, { clientId }, house.here)
      await stage.mark(`${base}/end`, second)
      for (const qos of [1, 2]) {
        const shown = shownBy(second).filter(text => text.startsWith(`${base}/${qos}`))
        expect(shown).toEqual(lines.map(line => `${base}/${qos} ${line} ${qos}`))
      }
      expect(shownBy(second)).toHaveLength(2 * lines.length)
      await second.leave()
      const third = await stage.subscribe(filters, 2, { clientId })
      await stage.mark(`${base}/end`, third)
      expect(shownBy(third)).toEqual([])
      await third.leave()
    },
  },
  {
    name: 'a clean session ends the one before it, and itself with its connection',
    async run(stage) {
      const { base } = stage
      const clientId = stage.clientId('clean')
      await (await stage.subscribe([`${base}/#`], 1, { clientId })).leave()
      await stage.publish({ topic: `${base}/a`, payload: 'to nobody', qos: 1 })
      const clean = await stage.subscribe([`${base}/end`], 1, { clientId, clean: true })
      await stage.publish({ topic: `${base}/a`, payload: 'nor now', qos: 1 })
      await stage.mark(`${base}/end`, clean)
      expect(shownBy(clean)).toEqual([])
      await clean.leave()
      await stage.publish({ topic: `${base}/end`, payload: 'nor then', qos: 1 })
      const again = await stage.subscribe([`${base}/other`], 1, { clientId })
      await stage.mark(`${base}/other`, again)
      expect(shownBy(again)).toEqual([])
    },
  },
  {
    name: 'a client that connects again takes its session over, and the will of the one before comes',
    async run(stage) {
      const { base, house } = stage
      const clientId = stage.clientId('taken')
      const watcher = await stage.subscribe([`${base}/will`], 2)
      // One way to the server, for one connection: a client that is closed connects again, and would take the session back.
      const ports = [Number(new URL(house.here.mqttUrl).port)]
      const path = await pathOfTest(() => ports.shift() ?? deadPort)
      const first = await stage.subscribe(
        [`${base}/a`],
        2,
        { clientId, will: { topic: `${base}/will`, payload: 'taken over', qos: 2 } },
        { ...house.here, mqttUrl: `mqtt://127.0.0.1:${path.port}` },
      )
      await stage.publish({ topic: `${base}/a`, payload: 'first', qos: 2 })
      await first.inbox.first(1)
      const second = await stage.subscribe([`${base}/a`], 2, { clientId })
      // In version 5 the client may be the one that closes, since it is told.
      await path.closed
      await watcher.inbox.first(1)
      await first.kill()
      await stage.publish({ topic: `${base}/a`, payload: 'second', qos: 2 })
      await stage.mark(`${base}/a`, second)
      expect(shownBy(first)).toEqual([`${base}/a first 2`])
      expect(shownBy(second)).toEqual([`${base}/a second 2`])
      expect(shownBy(watcher)).toEqual([`${base}/will taken over 2`])
    },
  },
  {
    name: 'filters that overlap give one copy at the greatest QoS, live and of what is kept',
    async run(stage) {
      const { base } = stage
      const clientId = stage.clientId('overlap')
      // A program that has one QoS for all of its filters gives a session several by several visits.
      await (await stage.subscribe([`${base}/#`], 0, { clientId })).leave()
      await (await stage.subscribe([`${base}/+`], 2, { clientId })).leave()
      const first = await stage.subscribe([`${base}/a`], 1, { clientId })
      const clean = await stage.subscribe([`${base}/#`, `${base}/a`, `${base}/+`], 1)
      await stage.publish({ topic: `${base}/a`, payload: 'live', qos: 2 })
      await stage.mark(`${base}/a`, first, clean)
      expect(shownBy(first)).toEqual([`${base}/a live 2`])
      expect(shownBy(clean)).toEqual([`${base}/a live 1`])
      await first.leave()
      await stage.publish({ topic: `${base}/a`, payload: 'kept', qos: 2 })
      const second = await stage.subscribe([`${base}/a`], 1, { clientId })
      await stage.mark(`${base}/a`, second)
      expect(shownBy(second)).toEqual([`${base}/a kept 2`])
    },
  },
  {
    name: 'levels may be empty, # matches the level above, and $ is a letter below the first level',
    async run(stage) {
      const { base } = stage
      const filters = ['//x', '/', '/p/#', '/s/+', '/e/+/f'].map(end => base + end)
      const subscriber = await stage.subscribe(filters, 1)
      expect(subscriber.granted).toEqual([1, 1, 1, 1, 1])
      const topics = ['//x', '/', '/p', '/p/', '/p/q/r', '/s/$x', '/s/', '/e//f'].map(end => base + end)
      const others = ['/x', '/s', '/e/f', ''].map(end => base + end)
      const message = (topic: string): Outgoing => ({ topic, payload: 'x', qos: 1 })
      await stage.publish(...[...others, ...topics].map(message))
      await stage.mark(`${base}/p`, subscriber)
      expect(shownBy(subscriber)).toEqual(topics.map(topic => `${topic} x 1`))
    },
  },
  {
    name: 'nobody sees or publishes what begins with $ or an empty level, nor shares a subscription',
    async run(stage) {
      const { base } = stage
      const closed = ['$SYS/#', '$SYS/+/new/clients', '$share/g/house/#', '#', '+/#', '$house/#', '/house/#']
      const subscriber = await stage.subscribe([...closed, `${base}/#`], 1)
      const isShared = (filter: string) => filter.startsWith('$share/')
      const refused = closed.map(filter => stage.refused(isShared(filter) ? 0x9e : 0x87))
      expect(subscriber.granted).toEqual([...refused, 1])
      for (const topic of ['$SYS/x', '$house/x', '/house/x'])
        await stage.publishInVain({ topic, payload: 'x', qos: 1 })
      await stage.mark(`${base}/end`, subscriber)
      expect(shownBy(subscriber)).toEqual([])
    },
  },
  {
    name: 'the largest packet passes, and bytes are as they were',
    async run(stage) {
      const topic = `${stage.base}/large`
      const subscriber = await stage.subscribe([`${stage.base}/#`], 2, { encoding: 'hex' })
      const everyByte = Uint8Array.from({ length: 256 }, (_, n) => n)
      const payload = Buffer.alloc(maxPacketSize - stage.headOf(topic), everyByte)
      await stage.publish({ topic, payload, qos: 2 }, { topic, payload: '', qos: 2 })
      const [large, empty] = await subscriber.inbox.first(2)
      expect(large?.payload === payload.toString('hex')).toBe(true)
      expect(empty?.payload).toBe('')
    },
  },
  {
    name: 'a hundred filters in one SUBSCRIBE are answered one by one',
    async run(stage) {
      const { base } = stage
      const filters = Array.from({ length: 50 }, (_, n) => [`${base}/${n}/+`, `other/${n}`]).flat()
      const subscriber = await stage.subscribe(filters, 1, { clientId: stage.clientId('hundred') })
      expect(subscriber.granted).toEqual(filters.map((_, n) => (n % 2 ? stage.refused() : 1)))
      const topics = [0, 17, 49].map(n => `${base}/${n}/x`)
      const message = (topic: string): Outgoing => ({ topic, payload: 'x', qos: 1 })
      await stage.publishInVain(message('other/17'))
      await stage.publish(...[`${base}/50/x`, ...topics].map(message))
      await stage.mark(`${base}/49/x`, subscriber)
      expect(shownBy(subscriber)).toEqual(topics.map(topic => `${topic} x 1`))
    },
  },
]

const table = duties.map(({ name, run }, place) => [name, run, place] as const)

describe.each(stores)('on $name', ({ servers }) => {
  let house: House

  beforeAll(async () => {
    const { here, there } = servers()
    const thing = await ask<Thing>(here, 'POST', '/v2/admin/things', { topics: everything })
    const body = { things: [], access: 'read', topics: everything }
    const session = await ask<Session>(here, 'POST', '/v2/admin/sessions', body)
    house = { here, there, token: thing.thingToken, password: session.sessionToken }
  })

  describe.each(clientDrivers)('$name in version $version', client => {
    it.each(table)('%s', async (_name, run, place) => {
      await run(new Stage(client, house, `house/${client.name}-${client.version}/${place}`))
    })
  })
})
