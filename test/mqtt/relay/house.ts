import { describe, inject, test } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { startNode } from '../../helpers/cluster.ts'
import { ask, createThing, type Session } from '../../helpers/http-client.ts'
import {
  type ConnectOptions,
  isMessageOn,
  isOf,
  type Message,
  type MqttAddress,
  type MqttClient,
} from '../../helpers/mqtt-client.ts'
import { mqttOfTest, ofTests, serverOfTests } from '../../helpers/of-test.ts'
import { startRedisCluster } from '../../helpers/redis-cluster.ts'
import { startRedis } from '../../helpers/redis-server.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'

/** On which of two nodes a client connects; where there is one, both are it. */
type Node = 'here' | 'there'

/** A server that relays `house/#`, and clients that may use it. */
export type House = ReturnType<typeof houseOf>

export const everything: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

export async function messageOn(client: MqttClient, topic: string): Promise<Message> {
  return (await client.next(isMessageOn(topic))) as Message
}

export async function textOn(client: MqttClient, topic: string): Promise<string> {
  return (await messageOn(client, topic)).payload.toString()
}

/** Publishes a mark, and resolves when the client has it: all that was published before by the same client, it has, too. */
export async function passed(publisher: MqttClient, subscriber: MqttClient, topic: string): Promise<void> {
  const text = `passed ${marks++}`
  await publisher.publish(topic, text)
  await subscriber.next(packet => packet.cmd === 'publish' && String(packet.payload) === text)
}

let marks = 0

/** What a client has received, as `topic payload qos`, in order; marks left out. */
export function receivedBy(client: MqttClient): string[] {
  return client.received
    .filter(isOf('publish'))
    .map(({ topic, payload, qos }) => `${topic} ${payload} ${qos}`)
    .filter(text => !text.includes(' passed '))
}

/** What a broker owes its clients (MQTT 3.1.1), beside what real clients show. */
export interface Duty {
  readonly name: string
  /** @param base begins every topic of it */
  run(house: House, base: string): Promise<void>
}

export const levels = [0, 1, 2] as const

/** A client that comes again under the same id. */
export async function comer(house: House, clientId: string) {
  const password = await house.passwordFor(everything)
  return (clean = false) => ({ username: 'x', password, clientId, clean })
}

const setup = { environment: { THINGWIRE_TOPICS: 'house/#', THINGWIRE_DRAIN_TIMEOUT: '60000' } }

/** Each duty as a test: in the project of Redis at two processes, which publisher and subscriber are apart at; else at one. */
export function tryDuties(duties: readonly Duty[]): void {
  const table = duties.map(({ name, run }, place) => [name, run, `house/${place}`] as const)
  if (inject('store') === 'embedded') {
    const server = serverOfTests(setup)
    test.each(table)(
      'on the embedded store %s',
      async (_, run, base) => await run(houseOf({ here: server(), there: server() }), base),
    )
    return
  }
  const stores = { Redis: startRedis, 'a Redis Cluster': startRedisCluster }
  describe.each(Object.entries(stores))('on %s with two processes', (_name, startStore) => {
    const nodes = ofTests(
      async () => {
        const store = await startStore()
        const adminKey = createToken()
        const start = () => startNode(store.url, adminKey, setup)
        return { store, here: await start(), there: await start() }
      },
      async ({ store, here, there }) => {
        await Promise.all([here.kill(), there.kill()])
        await store.end()
      },
    )
    test.each(table)('%s', async (_, run, base) => await run(houseOf(nodes), base))
  })
}

function houseOf(nodes: Readonly<Record<Node, ServerProcess>>) {
  /** The password of one who may use these. */
  const passwordFor = async (topics: readonly TopicGrant[]) => {
    const body = { things: [], access: 'read', topics }
    return (await ask<Session>(nodes.here, 'POST', '/v2/admin/sessions', body)).sessionToken
  }
  return {
    /** Bytes. */
    maxPacketSize: 1_048_576,
    passwordFor,
    createThing: () => createThing(nodes.here),
    /** A client that may read and write everything that is relayed, with a session of its own unless a password is given. */
    connect: async (node: Node, options: ConnectOptions & Partial<MqttAddress> = {}) => {
      const { password = await passwordFor(everything) } = options
      return await mqttOfTest({ url: nodes[node].mqttUrl, username: 'x', ...options, password })
    },
  }
}
