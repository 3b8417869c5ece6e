import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Gathered, gather } from '../../../../src/conformance/gathered.ts'
import { collect, state } from '../../../../src/conformance/views.ts'
import { count, received, thing, write } from '../../../../src/conformance/writes.ts'
import type { Commit } from '../../../../src/store/contract.ts'
import { trimLog } from '../../../../src/store/redis/commit-log.ts'
import { duplicateForBlocking, openClient } from '../../../../src/store/redis/connection/connection.ts'
import type { RedisDatabase } from '../../../../src/store/redis/connection/database.ts'
import { Follower } from '../../../../src/store/redis/log/follower.ts'
import { type LogEntry, writeNumberOf } from '../../../../src/store/redis/log/log-entry.ts'
import { removeThing } from '../../../../src/store/redis/removals.ts'
import { RedisSnapshot } from '../../../../src/store/redis/snapshot.ts'
import { redisClientOfTest, redisOfTest } from '../../../helpers/redis-of-test.ts'
import type { RedisServer } from '../../../helpers/redis-server.ts'
import { append, crowdLog, newDatabase, sameDatabase } from '../databases.ts'

let redis: RedisServer
/** What other nodes write to. */
let other: RedisDatabase

beforeEach(() => begin({ appendfsync: 'no' }))

async function begin(config: Readonly<Record<string, string>>): Promise<void> {
  const started = await redisOfTest({ config })
  const client = await redisClientOfTest(started.url)
  redis = started
  other = newDatabase(client)
}

interface Following {
  readonly follower: Follower
  readonly commits: Gathered<Commit>
  readonly gaps: unknown[]
  /** What is told, in order: a value, or `gap`. */
  readonly events: Gathered<unknown>
}

async function follow(position: number): Promise<Following> {
  const client = await openClient(redis.url)
  const follower = new Follower(await duplicateForBlocking(client), other.keys, 'node')
  client.disconnect()
  onTestFinished(() => follower.close())
  const { listeners } = follower
  const gaps: unknown[] = []
  listeners.onDocuments(names => {
    if (names === undefined) gaps.push(names)
  })
  const commits = gather<Commit>(listener => listeners.onCommit(listener))
  const events = gather<unknown>(listener => {
    listeners.onGap(() => listener('gap'))
    listeners.onCommit(({ records: [record] }) => listener(JSON.parse(record?.value ?? 'null')))
  })
  follower.start(position)
  return { follower, commits, gaps, events }
}

async function append1(value: unknown): Promise<number> {
  const [receipt] = await append(other, write([received(value)]))
  return receipt?.writeNumber ?? 0
}

/** Appends as soon as Redis takes it. */
async function appendWhenBack(value: unknown): Promise<void> {
  await expect.poll(() => append1(value)).toBeGreaterThan(0)
}

describe('Follower', () => {
  it('says so when what it has not read was trimmed, and goes on with what is new', async () => {
    const numbers: number[] = []
    for (const value of count(5)) numbers.push(await append1(value))
    await crowdLog(other, numbers[2] ?? 0)
    await trimLog(other, numbers)
    const { follower, gaps, events } = await follow(numbers[1] ?? 0)
    await follower.reached(numbers[4] ?? 0)
    await append1('new')
    expect(await events.first(2)).toEqual(['gap', 'new'])
    expect(gaps).toHaveLength(1)
  })

  it('misses nothing where all that was trimmed was read before', async () => {
    const numbers: number[] = []
    for (const value of count(5)) numbers.push(await append1(value))
    await crowdLog(other, numbers[2] ?? 0)
    await trimLog(other, numbers)
    const { events } = await follow(numbers[2] ?? 0)
    expect(await events.first(2)).toEqual([3, 4])
    await append1('new')
    expect(await events.first(3)).toEqual([3, 4, 'new'])
  })

  it('says so when Redis has lost everything, and no number is given out again', async () => {
    const { follower, events } = await follow(0)
    await append1(1)
    await events.first(1)
    const { newestDelivered } = follower
    await redisCall('FLUSHALL')
    await events.first(2)
    expect(await append1('new')).toBeGreaterThan(newestDelivered)
    expect(await events.first(3)).toEqual([1, 'gap', 'new'])
  })

  it('says so when Redis comes back without what was read, though others have written to it since', async () => {
    // As a replica does that takes over too early.
    await begin({ appendonly: 'no' })
    const { events } = await follow(0)
    await append1(1)
    await events.first(1)
    await redis.kill()
    await redis.restart()
    await appendWhenBack('first')
    const told = await events.first(2)
    expect(told.slice(0, 2)).toEqual([1, 'gap'])
    await appendWhenBack('second')
    await expect.poll(async () => (await events.first(2)).at(-1)).toBe('second')
  })

  it('tells what others wrote while it was cut off, once, and says nothing of a gap', async () => {
    const { events, gaps } = await follow(0)
    await append1(1)
    await events.first(1)
    await redis.stop()
    await redis.restart()
    for (const value of [2, 3]) await appendWhenBack(value)
    expect(await events.first(3)).toEqual([1, 2, 3])
    await redisCall('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await appendWhenBack(4)
    expect(await events.first(4)).toEqual([1, 2, 3, 4])
    expect(gaps).toEqual([])
  })

  it('tells what it is brought once, though it was brought or read before, and counts who else wrote it', async () => {
    for (const value of count(3)) await append1(value)
    const { follower, events } = await follow(0)
    const client = await redisClientOfTest(redis.url)
    const logged = async () => (await client.callBuffer('XRANGE', other.keys.log, '-', '+')) as LogEntry[]
    follower.take(await logged())
    expect(await events.first(3)).toEqual(count(3))
    expect(follower.take(await logged())).toBe(0)
    await append1('read')
    await events.first(4)
    expect(follower.take(await logged())).toBe(0)
    await append1('last')
    expect(await events.first(5)).toEqual([...count(3), 'read', 'last'])
  })

  it('take() says how many other nodes wrote what is new', async () => {
    const client = await redisClientOfTest(redis.url)
    const follower = new Follower(client, other.keys, other.node)
    const third = sameDatabase(other, client)
    await append(other, write([received('own')]))
    await append(third, write([received(1)]), write([received(2)]))
    await append(sameDatabase(other, client), write([received(3)]))
    const entries = (await client.callBuffer('XRANGE', other.keys.log, '-', '+')) as LogEntry[]
    expect(follower.take(entries.slice(0, 1))).toBe(0)
    expect(follower.take(entries.slice(0, 3))).toBe(1)
    expect(follower.take(entries)).toBe(1)
    expect(follower.take(entries)).toBe(0)
    expect(follower.newestRead).toBe(writeNumberOf(entries.at(-1) as LogEntry))
  })

  it('passes entries that were removed before it read them', async () => {
    const numbers = await append(other, ...count(3).map(value => write([received(value)])))
    await removeThing(other, thing)
    const { follower, events } = await follow(0)
    await follower.reached(numbers.at(-1)?.writeNumber ?? 0)
    await append1('new')
    expect(await events.first(1)).toEqual(['new'])
  })

  it('breaks snapshots whose changes it has missed', async () => {
    const [before] = await append(other, write([], { states: [state('old')] }))
    const { follower, events } = await follow(0)
    await follower.reached(before?.writeNumber ?? 0)
    const snapshot = new RedisSnapshot(other, follower, follower.newestDelivered)
    await redisCall('FLUSHALL')
    expect((await events.first(2)).at(-1)).toBe('gap')
    await expect(collect(snapshot.latest({}))).rejects.toMatchObject({ reason: 'store_unavailable' })
    await snapshot.close()
    const next = new RedisSnapshot(other, follower, follower.newestDelivered)
    expect(await collect(next.latest({}))).toEqual([])
    await next.close()
  })
})

async function redisCall(command: string, ...args: string[]): Promise<void> {
  const client = new Redis(redis.url)
  await client.call(command, ...args)
  client.disconnect()
}
