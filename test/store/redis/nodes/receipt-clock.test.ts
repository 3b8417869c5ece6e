import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readAll, received, write } from '../../../../src/conformance/writes.ts'
import { believedAfter, believedBehind, type ClockStep, released } from '../../../../src/core/time/clock.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import type { RedisDatabase } from '../../../../src/store/redis/connection/database.ts'
import { createRedisStore } from '../../../../src/store/redis/index.ts'
import { type Keys, redisKeys } from '../../../../src/store/redis/keys.ts'
import { Script } from '../../../../src/store/redis/script.ts'
import { redisOfTests } from '../../../helpers/redis-of-test.ts'
import { append, newDatabase } from '../databases.ts'

const redis = redisOfTests()

const minute = 60_000
const hour = 60 * minute
const year = 365 * 24 * hour
const heartbeat = new Script('heartbeat')
const belief = [believedBehind, believedAfter]

/** What the clock of Redis shows, milliseconds. */
async function redisTime(): Promise<number> {
  const [seconds, microseconds] = await redis.client.time()
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}

/** Makes the newest receipt time be this one. */
async function receive({ head }: Keys, receivedAt: number): Promise<void> {
  await redis.client.hset(head, 'receipt', receivedAt)
}

/** As if the clock had been found far behind at these times, first and last. */
async function foundBehind({ head }: Keys, since: number, seen: number): Promise<void> {
  await redis.client.hset(head, 'behind-since', since, 'behind-seen', seen)
}

describe('heartbeat.lua', () => {
  let database: RedisDatabase
  let now: number
  beforeEach(async () => {
    database = newDatabase(redis.client)
    now = await redisTime()
  })

  /** @param release a time before which no clock is believed */
  async function beat(release = released) {
    const reply = await database.run(heartbeat, database.node, 25_000, release, ...belief)
    const [, newest = 0, from = 0, to = 0] = reply as readonly number[]
    return { newest, from, to }
  }

  const nothing = { from: 0, to: 0 }

  it('believes a clock that was 10 years ahead and is right, after 10 minutes in which it was looked at', async () => {
    const ahead = now + 10 * year
    await receive(database.keys, ahead)
    expect(await beat()).toEqual({ newest: ahead, ...nothing })
    const [since] = await redis.client.hmget(database.keys.head, 'behind-since')
    expect(Number(since)).toBeGreaterThanOrEqual(now)
    await foundBehind(database.keys, now - 10 * minute + 5_000, now - 5_000)
    expect(await beat()).toEqual({ newest: ahead, ...nothing })
    await foundBehind(database.keys, now - 10 * minute, now - 5_000)
    const { newest, ...step } = await beat()
    expect(step).toEqual({ from: ahead, to: newest })
    expect(newest).toBeGreaterThanOrEqual(now)
    expect(newest).toBeLessThanOrEqual(await redisTime())
    expect(await beat()).toEqual({ newest, ...step })
    await append(database, write([received(1)]))
    const after = Number(await redis.client.hget(database.keys.head, 'receipt'))
    expect(after).toBeGreaterThanOrEqual(newest)
    expect(after).toBeLessThanOrEqual(await redisTime())
  })

  it.each([
    ['back', 5_000],
    ['forwards, or that nobody has looked at for a while', -31_000],
  ])('counts the 10 minutes anew from a clock that has stepped %s', async (_, seen) => {
    const ahead = now + 10 * year
    await receive(database.keys, ahead)
    await foundBehind(database.keys, now - hour, now + seen)
    expect(await beat()).toEqual({ newest: ahead, ...nothing })
    expect(Number(await redis.client.hget(database.keys.head, 'behind-since'))).toBeGreaterThanOrEqual(now)
  })

  it('never believes a clock that is 23 h behind, and forgets that it was farther behind before', async () => {
    const ahead = now + 23 * hour
    await receive(database.keys, ahead)
    await foundBehind(database.keys, now - hour, now - 5_000)
    expect(await beat()).toEqual({ newest: ahead, ...nothing })
    expect(await redis.client.hexists(database.keys.head, 'behind-since')).toBe(0)
  })

  it('never believes a clock that shows a time before the release', async () => {
    const ahead = now + 10 * year
    await receive(database.keys, ahead)
    await foundBehind(database.keys, now - hour, now - 5_000)
    expect(await beat(now + year)).toEqual({ newest: ahead, ...nothing })
    expect(await redis.client.hexists(database.keys.head, 'behind-since')).toBe(0)
  })

  it('has receipt times of a new store begin with the release, where the clock shows a time before it', async () => {
    await beat(now + year)
    await append(database, write([received(1)]))
    expect(Number(await redis.client.hget(database.keys.head, 'receipt'))).toBe(now + year)
  })
})

describe('the clock of a store', () => {
  it('is stepped back on every node at one time, each says so once, and one that comes later does not', async () => {
    const prefix = randomUUID()
    const keys = redisKeys(prefix)
    const open = async (): Promise<[Store, ClockStep[]]> => {
      const store = await openStore(createRedisStore({ url: redis.url, prefix }))
      onTestFinished(() => store.close())
      const steps: ClockStep[] = []
      store.clock.onSteppedBack(step => steps.push(step))
      return [store, steps]
    }
    const [[one, ofOne], [other, ofOther]] = [await open(), await open()]
    const now = await redisTime()
    const ahead = now + 10 * year
    await receive(keys, ahead)
    await one.records.append(write([received('ahead')]))
    expect(one.clock.now()).toBe(ahead)
    await expect.poll(() => other.clock.now()).toBe(ahead)
    expect(one.clock.behind()).toBeGreaterThan(9 * year)
    await foundBehind(keys, now - 10 * minute, (await redisTime()) - 1)
    await expect.poll(() => ofOne.length + ofOther.length).toBe(2)
    const [step] = ofOne
    expect(step?.from).toBe(ahead)
    expect([ofOne, ofOther]).toEqual([[step], [step]])
    expect([one.clock.steppedBack, other.clock.steppedBack]).toEqual([step, step])
    expect([one.clock.behind(), other.clock.behind()]).toEqual([0, 0])
    await other.records.append(write([received('right')]))
    const [right] = await readAll(one.records)
    expect(right?.value).toBe('"right"')
    expect(right?.datetime).toBeGreaterThanOrEqual(step?.to ?? Number.POSITIVE_INFINITY)
    const [late, ofLate] = await open()
    await late.records.append(write([received('later')]))
    expect([ofLate, late.clock.steppedBack, late.clock.behind()]).toEqual([[], undefined, 0])
    expect([ofOne.length, ofOther.length]).toEqual([1, 1])
  })
})
