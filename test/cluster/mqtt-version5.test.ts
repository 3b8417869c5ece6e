import { describe, expect, inject, it } from 'vitest'
import { sessionName } from '../../src/mqtt/relay/documents.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { startNodes } from '../helpers/cluster.ts'
import { createThing, readAll, type Thing } from '../helpers/http-client.ts'
import { reportLateness, writtenAt } from '../helpers/lateness.ts'
import type { ConnectOptions, MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest, ofTests } from '../helpers/of-test.ts'
import { startRedisCluster } from '../helpers/redis-cluster.ts'
import { redisClientOfTest } from '../helpers/redis-of-test.ts'
import { startRedis } from '../helpers/redis-server.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** Milliseconds. */
const willGrace = 5_000
const startStore = inject('store') === 'redis-cluster' ? startRedisCluster : startRedis
const environment = { THINGWIRE_WILL_GRACE: String(willGrace) }
const keys = redisKeys('thingwire')

const cluster = ofTests(
  async () => {
    const redis = await startStore()
    return await startNodes(2, { redis, environment })
  },
  async ({ redis, end }) => {
    await end()
    await redis.end()
  },
)

function connect(node: ServerProcess, { thingToken }: Thing, options: ConnectOptions): Promise<MqttClient> {
  const credential = { username: 'x', password: thingToken, clean: false }
  return mqttOfTest({ url: node.mqttUrl, protocolVersion: 5, ...credential, ...options })
}

const lasting = (sessionExpiryInterval: number) => ({ properties: { sessionExpiryInterval } })

function withWill({ thingId }: Thing, clientId: string, willDelayInterval: number): ConnectOptions {
  const topic = `things/${thingId}/write`
  const payload = { values: [{ key: 'will', value: clientId }] }
  return {
    ...{ clientId, ...lasting(1_000) },
    will: { topic, payload, qos: 1, properties: { willDelayInterval } },
  }
}

async function willsOf(thing: Thing): Promise<unknown[]> {
  const written = await readAll(cluster.node(0), thing, 'will').catch(() => [])
  return written.map(({ value }) => value).toSorted()
}

/** Resolves when the session has left the store. @returns the time, milliseconds since 1970 */
async function endOf({ thingId }: Thing, clientId: string): Promise<number> {
  const client = await redisClientOfTest(cluster.redis.url)
  const name = sessionName(`thing.${thingId}:${clientId}`)
  const isStored = () => client.hexists(keys.documents, name)
  await expect.poll(isStored, { interval: 50, timeout: 120_000 }).toBe(0)
  return Date.now()
}

/**
 * Kills a node. Resolves when one of the others has logged its death.
 *
 * @returns the time from which it counts as dead, milliseconds since 1970; a log has it up to 5 s later
 */
async function die(node: ServerProcess, ...others: readonly ServerProcess[]): Promise<number> {
  const [, name = ''] = await node.logged(/"the other nodes know this node as ([^\s"]+)/)
  await node.kill()
  const client = await redisClientOfTest(cluster.redis.url)
  const deadAt = Number(await client.zscore(keys.nodes, name))
  const isMissed = new RegExp(`"level":40,.*"node ${name} was silent for 25 s and counts as dead`)
  await Promise.race(others.map(other => other.logged(isMissed)))
  return deadAt
}

async function isPresent(node: ServerProcess, thing: Thing, clientId: string): Promise<boolean> {
  const client = await connect(node, thing, { clientId, ...lasting(1_000) })
  return client.connack.sessionPresent
}

describe('a client of version 5 at another node', () => {
  it('has no delayed will written if it goes on with its session there, and has it if it does not', async context => {
    const thing = await createThing(cluster.node(0))
    await (await connect(cluster.node(0), thing, withWill(thing, 'back', 2))).destroy()
    await (await connect(cluster.node(0), thing, withWill(thing, 'new', 1_000))).destroy()
    const lostAt = Date.now()
    await (await connect(cluster.node(0), thing, withWill(thing, 'gone', 3))).destroy()
    expect(await isPresent(cluster.node(1), thing, 'back')).toBe(true)
    await connect(cluster.node(1), thing, { clientId: 'new', clean: true })
    expect(await willsOf(thing)).toContain('new')
    await expect.poll(() => willsOf(thing)).toEqual(['gone', 'new'])
    const gone = (await writtenAt(cluster.node(0), thing, 'will')).get('gone')
    await reportLateness(context, { 'a delayed will': [gone, lostAt + 3_000] })
  })

  it('keeps a session that would have ended at the node before', async context => {
    const thing = await createThing(cluster.node(0))
    await (await connect(cluster.node(0), thing, { clientId: 'board', ...lasting(2) })).destroy()
    const lostAt = Date.now()
    await (await connect(cluster.node(0), thing, { clientId: 'ended', ...lasting(2) })).destroy()
    const moved = await connect(cluster.node(1), thing, { clientId: 'board', ...lasting(1_000) })
    expect(moved.connack.sessionPresent).toBe(true)
    await moved.destroy()
    await reportLateness(context, { 'the end of a session': [await endOf(thing, 'ended'), lostAt + 2_000] })
    // The other one would have ended before, within the same interval of a second.
    await connect(cluster.node(1), thing, withWill(thing, 'clock', 2)).then(client => client.destroy())
    await expect.poll(() => willsOf(thing)).toEqual(['clock'])
    expect(await isPresent(cluster.node(0), thing, 'board')).toBe(true)
    expect(await isPresent(cluster.node(1), thing, 'ended')).toBe(false)
  })
})

describe('a node that is killed', () => {
  it('leaves delayed wills and the ends of sessions to another one', async context => {
    const thing = await createThing(cluster.node(0))
    const doomed = await cluster.add()
    const lostAt = Date.now()
    await (await connect(doomed, thing, withWill(thing, 'lost', 1))).destroy()
    await (await connect(doomed, thing, withWill(thing, 'lost, later', 50))).destroy()
    await (await connect(doomed, thing, withWill(thing, 'lost, back', 1_000))).destroy()
    await connect(doomed, thing, withWill(thing, 'open', 1))
    await connect(doomed, thing, withWill(thing, 'open, later', 15))
    await connect(doomed, thing, withWill(thing, 'open, back', 1_000))
    await (await connect(doomed, thing, { clientId: 'ended', ...lasting(20) })).destroy()
    await (await connect(doomed, thing, { clientId: 'ended later', ...lasting(50) })).destroy()
    await connect(doomed, thing, { clientId: 'ending', ...lasting(15) })
    await connect(doomed, thing, { clientId: 'none', ...lasting(0) })
    const ends = Promise.all(['ended', 'ending', 'ended later'].map(clientId => endOf(thing, clientId)))
    const deadAt = await die(doomed, cluster.node(0), cluster.node(1))
    expect(await isPresent(cluster.node(1), thing, 'lost, back')).toBe(true)
    expect(await isPresent(cluster.node(0), thing, 'open, back')).toBe(true)
    expect(await isPresent(cluster.node(0), thing, 'none')).toBe(false)
    const all = ['lost', 'lost, later', 'open', 'open, later']
    await expect.poll(() => willsOf(thing), { timeout: 120_000 }).toEqual(all)
    const times = await writtenAt(cluster.node(0), thing, 'will')
    const [ended, ending, endedLater] = await ends
    await reportLateness(context, {
      'the will of a client that was lost before': [times.get('lost'), deadAt + willGrace],
      'such a will with a longer delay': [
        times.get('lost, later'),
        Math.max(lostAt + 50_000, deadAt + willGrace),
      ],
      'the will of a client that was connected': [times.get('open'), deadAt + willGrace],
      'such a will with a delay over willGrace': [times.get('open, later'), deadAt + 15_000],
      'the end of a session that was over before': [ended, deadAt],
      'the end of a session that was left before': [endedLater, Math.max(lostAt + 50_000, deadAt)],
      'the end of a session that was in use': [ending, deadAt + 15_000],
    })
    expect(await isPresent(cluster.node(1), thing, 'ending')).toBe(false)
    expect(await isPresent(cluster.node(1), thing, 'ended')).toBe(false)
  })
})
