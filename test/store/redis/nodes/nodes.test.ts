import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { gather } from '../../../../src/conformance/gathered.ts'
import { received, valuesOf, write } from '../../../../src/conformance/writes.ts'
import { type Lock, LockLost } from '../../../../src/core/locks.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { openClient } from '../../../../src/store/redis/connection/connection.ts'
import type { Statement } from '../../../../src/store/redis/connection/statement.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { type Keys, redisKeys } from '../../../../src/store/redis/keys.ts'
import { type RedisServer, startRedis } from '../../../helpers/redis-server.ts'

let server: RedisServer
let client: Redis
let keys: Keys
let prefix: string

beforeEach(async () => {
  server = await startRedis()
  client = (await openClient(server.url)) as Redis
  prefix = randomUUID()
  keys = redisKeys(prefix)
  return async () => {
    client.disconnect()
    await server.end()
  }
})

async function open(onStatement: (statement: Statement) => void = () => {}): Promise<Store> {
  const store = await openStore(createRedisStore({ url: server.url, prefix, onStatement }))
  onTestFinished(() => store.close())
  return store
}

const lock = 'task/task'

const leader = () => client.hget(keys.locks, lock)

/** As if this node had taken the task. @param lifetime for how long it leads unless it says so again, milliseconds */
async function setLeader(owner: string, lifetime = 600_000): Promise<void> {
  const [seconds] = await client.time()
  await client.hset(keys.locks, lock, owner)
  await client.hset(keys.leadEnds, 'task', Number(seconds) * 1_000 + lifetime)
}

/** As if nobody had taken it. */
async function clearLeader(): Promise<void> {
  await client.hdel(keys.locks, lock)
  await client.hdel(keys.leadEnds, 'task')
}

/** Until when the task is led unless its node says so again, milliseconds by the clock of Redis; 0: it is not. */
const leadEnd = async () => Number(await client.hget(keys.leadEnds, 'task'))

/** A task of a node: `begun` and `ended` for each of its terms, in order, and the lock of each. */
function leading({ nodes }: Store) {
  const terms: Lock[] = []
  let tell: (event: string) => void = () => {}
  const events = gather<string>(listener => {
    tell = listener
  })
  const giveUp = nodes.lead('task', async (stop, lock) => {
    terms.push(lock)
    tell('begun')
    await new Promise(resolve => stop.addEventListener('abort', resolve, { once: true }))
    tell('ended')
  })
  onTestFinished(giveUp)
  return { events, giveUp, terms }
}

describe('alive()', () => {
  it('holds a node for alive for 25 s after it was heard of, by the clock of Redis', async () => {
    const store = await open()
    const { self } = store.nodes
    const [seconds] = await client.time()
    const left = Number(await client.zscore(keys.nodes, self)) - Number(seconds) * 1_000
    expect(left).toBeGreaterThan(20_000)
    expect(left).toBeLessThanOrEqual(26_000)
    await client.zadd(
      keys.nodes,
      Number(seconds) * 1_000 - 1,
      'killed',
      (Number(seconds) + 10) * 1_000,
      'other',
    )
    expect(await store.nodes.alive()).toEqual(new Set([self, 'other']))
    expect(await client.zcard(keys.nodes)).toBe(3)
  })

  it('has a node again that was held for dead and is heard of, and forgets those that are dead', async () => {
    const { nodes } = await open()
    const [seconds] = await client.time()
    await client.zadd(keys.nodes, 1, nodes.self, 1, 'killed', (Number(seconds) + 15) * 1_000, 'other')
    expect(await nodes.alive()).toEqual(new Set(['other']))
    await expect.poll(() => nodes.alive()).toEqual(new Set([nodes.self, 'other']))
    expect(await client.zcard(keys.nodes)).toBe(2)
  })

  it('says once which node counts as dead, on one of the others, and what each is called', async () => {
    const said: Statement[] = []
    const say = (statement: Statement) => void said.push(statement)
    const [one, other] = [await open(say), await open(say)]
    expect(said.map(({ text }) => text)).toEqual(
      expect.arrayContaining(
        [one, other].map(({ nodes }) => `the other nodes know this node as ${nodes.self}`),
      ),
    )
    const dead = () => said.map(({ text }) => text).filter(text => text.includes('counts as dead'))
    await client.zadd(keys.nodes, 1, 'killed')
    await expect.poll(dead).toEqual([expect.stringMatching(/^node killed .* counts as dead/)])
    // What each of them has found by then it has said.
    await client.zadd(keys.nodes, 1, one.nodes.self, 1, other.nodes.self)
    await expect.poll(() => one.nodes.alive()).toEqual(new Set([one.nodes.self, other.nodes.self]))
    expect(dead().filter(text => text.includes('killed'))).toHaveLength(1)
  })

  it('does not hold it against a node that Redis was away when it was to be heard of', async () => {
    const { nodes } = await open()
    const now = Number((await client.time())[0]) * 1_000
    // Who is dead was last heard of long before the others.
    await client.zadd(keys.nodes, now - 1_000, nodes.self, now - 3_000, 'other', now - 40_000, 'dead')
    expect(await nodes.alive()).toEqual(new Set([nodes.self, 'other']))
    await expect.poll(() => client.zscore(keys.nodes, nodes.self).then(Number)).toBeGreaterThan(now + 10_000)
    expect(await nodes.alive()).toEqual(new Set([nodes.self, 'other']))
    expect(await client.zcard(keys.nodes)).toBe(2)
  })

  it('rejects when Redis is away, and finds the node again when it is back', async () => {
    const { nodes } = await open()
    await server.kill()
    await expect(nodes.alive()).rejects.toMatchObject({ reason: 'store_unavailable' })
    await server.restart()
    const alive = () => nodes.alive().catch(() => undefined)
    await expect.poll(alive).toEqual(new Set([nodes.self]))
  })

  it('has no node that was closed, and that leads nothing', async () => {
    const store = await open()
    const { events } = leading(store)
    await events.first(1)
    await store.close()
    expect(await events.first(2)).toEqual(['begun', 'ended'])
    expect(await client.exists(keys.nodes, keys.locks, keys.leadEnds)).toBe(0)
    const giveUp = store.nodes.lead('task', () => Promise.reject(new Error('it is closed')))
    await giveUp()
    await expect(store.nodes.alive()).rejects.toMatchObject({ reason: 'store_unavailable' })
  })
})

describe('lead()', () => {
  it('stops when Redis says that another leads, and begins again when that is gone', async () => {
    const { events } = leading(await open())
    await events.first(1)
    await setLeader('other:1')
    expect(await events.first(2)).toEqual(['begun', 'ended'])
    await clearLeader()
    expect(await events.first(3)).toEqual(['begun', 'ended', 'begun'])
  })

  it('stops where Redis does not answer, and begins again when it does', async () => {
    const { events } = leading(await open())
    await events.first(1)
    server.process.kill('SIGSTOP')
    await events.first(2)
    server.process.kill('SIGCONT')
    expect(await events.first(3)).toEqual(['begun', 'ended', 'begun'])
  })

  it('leads on while it is renewed, and calls work that has ended no more', async () => {
    const { nodes } = await open()
    let calls = 0
    const giveUp = nodes.lead('task', async () => {
      calls++
    })
    await expect.poll(() => calls).toBe(1)
    const end = await leadEnd()
    await expect.poll(leadEnd).toBeGreaterThan(end)
    expect(calls).toBe(1)
    await giveUp()
    await giveUp()
    expect(await client.exists(keys.locks, keys.leadEnds)).toBe(0)
  })

  it('never has two do the work: one that takes long to end is waited for', async () => {
    const { nodes } = await open()
    let working = 0
    let terms = 0
    const giveUp = nodes.lead('task', async stop => {
      terms++
      expect(++working).toBe(1)
      await new Promise(resolve => stop.addEventListener('abort', resolve, { once: true }))
      await delay(100)
      working--
    })
    await expect.poll(() => terms).toBe(1)
    await setLeader('other:1', 3_000)
    await expect.poll(() => terms).toBe(2)
    await giveUp()
    expect(working).toBe(0)
  })

  it('takes no lease away from the node that has it', async () => {
    await setLeader('other:1')
    const { giveUp } = leading(await open())
    await giveUp()
    expect(await leader()).toBe('other:1')
  })

  it('stops, and begins again, when another may have led since Redis was asked last', async () => {
    const { events } = leading(await open())
    await events.first(1)
    await clearLeader()
    expect(await events.first(3)).toEqual(['begun', 'ended', 'begun'])
  })

  it('lets a node that has begun anew lead on at once, in another term: it is not the process of before', async () => {
    const store = await open()
    await setLeader(`${store.nodes.self}:7`)
    const { events, terms } = leading(store)
    await events.first(1)
    expect(terms).toEqual([{ name: lock, owner: await leader() }])
    expect(terms[0]?.owner).not.toBe(`${store.nodes.self}:7`)
  })

  it('lets append() through in the term alone whose lock it is in the name of', async () => {
    const store = await open()
    const { events, terms } = leading(store)
    const append = (value: string, of: Lock | undefined) =>
      store.records.append(write([received(value)], { lock: of }))
    await events.first(1)
    await append('in time', terms[0])
    await setLeader(`${store.nodes.self}:7`)
    await expect(append('another term of its own', terms[0])).rejects.toBeInstanceOf(LockLost)
    await events.first(3)
    expect(terms[1]?.owner).toBe(await leader())
    await expect(append('too late', terms[0])).rejects.toBeInstanceOf(LockLost)
    await append('now', terms[1])
    await setLeader('other:1')
    await expect(append('while another leads', terms[1])).rejects.toBeInstanceOf(LockLost)
    expect(await valuesOf(store.records)).toEqual(['in time', 'now'])
  })

  it('lets append() through after its time, as long as no other node has taken the task', async () => {
    const store = await open()
    const { events, terms } = leading(store)
    await events.first(1)
    await client.hset(keys.leadEnds, 'task', 1)
    await store.records.append(write([received(1)], { lock: terms[0] }))
    expect(await valuesOf(store.records)).toEqual([1])
  })
})

it('onDocuments() is not told what comes and goes with each message', async () => {
  const [one, other] = [await open(), await open()]
  const told = gather<readonly string[] | undefined>(listener => other.nodes.onDocuments(listener))
  await one.documents.put({ 'mqtt-in-flight/client/2': {} }, 'keep')
  await one.documents.put({ 'mqtt-in-flight/client/2': null, a: {} }, 'keep')
  expect(await told.first(1)).toEqual([['a']])
  expect(await client.xlen(keys.log)).toBe(1)
})
