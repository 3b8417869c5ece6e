import assert from 'node:assert/strict'
import { test } from 'vitest'
import { plain, put, state, stateful } from '../../../src/conformance/views.ts'
import { count, key, measured, otherThing, received, thing, write } from '../../../src/conformance/writes.ts'
import type { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { type DecodedEntry, decodeEntry, type LogEntry } from '../../../src/store/redis/log/log-entry.ts'
import { decodeMember, decodeState, writeNumberInState } from '../../../src/store/redis/record-member.ts'
import { remove, removeThing } from '../../../src/store/redis/removals.ts'
import { Script } from '../../../src/store/redis/script.ts'
import { redisClientOfTest, redisOfTests } from '../../helpers/redis-of-test.ts'
import { alone, append, newDatabase, sameDatabase } from './databases.ts'

const redis = redisOfTests()

const everything = {}

test('remove() takes many pieces, and each record of them once', async () => {
  const database = newDatabase(redis.client)
  await append(database, write(count(3_000).map(value => measured(value, value))))
  const { count: removed, writeNumber } = await remove(database, alone, thing, key, { from: 10, to: 2_990 })
  assert.equal(removed, 2_980)
  assert.equal(writeNumber, undefined)
  assert.deepEqual(await valuesIn(database), [...count(10), ...count(10).map(value => 2_990 + value)])
})

test('remove() takes many pieces of one datetime', async () => {
  const database = newDatabase(redis.client)
  await append(database, write(count(2_000).map(value => measured(5, value))))
  assert.equal((await remove(database, alone, thing, key, { from: 5, to: 6 })).count, 2_000)
  assert.deepEqual(await valuesIn(database), [])
})

test('remove() takes pieces of large values', async () => {
  const database = newDatabase(redis.client)
  const large = 'x'.repeat(60_000)
  for (const round of count(10)) {
    await append(database, write(count(10).map(value => measured(10 * round + value, large))))
  }
  assert.equal((await remove(database, alone, thing, key, { to: 99 })).count, 99)
  assert.deepEqual(await valuesIn(database), [large])
})

test('remove() leaves what other nodes append while it runs, at the same datetimes too', async () => {
  const database = newDatabase(redis.client)
  const other = sameDatabase(database, await redisClientOfTest(redis.url))
  const old = count(4_000).map(value => measured(Math.floor(value / 40), `old ${value}`))
  await append(database, write(old))
  let isRemoving = true
  // It begins with the number of the newest write, so the first write of the other node comes after that.
  const removal = remove(database, task => alone(task).finally(startWriting), thing, key, everything)
  const removing = removal.finally(() => {
    isRemoving = false
  })
  const kept: string[] = []
  let writing: Promise<void> | undefined
  function startWriting() {
    writing = writeOn()
  }
  async function writeOn() {
    for (let round = 0; isRemoving; round++) {
      const values = count(20).map(value => `new ${round} ${value}`)
      await append(other, write(values.map((value, index) => measured(index * 5, value))))
      kept.push(...values)
    }
  }
  assert.equal((await removing).count, old.length)
  await writing
  assert.ok(kept.length > 20, 'the other node wrote while it ran')
  assert.deepEqual((await valuesIn(database)).toSorted(), kept.toSorted())
  assert.deepEqual(await names(database, database.keys.resources(thing)), [key])
  assert.deepEqual(await names(database, database.keys.thingsWith(key)), [thing])
})

test('remove() on two nodes counts no record twice', async () => {
  const database = newDatabase(redis.client)
  const other = sameDatabase(database, await redisClientOfTest(redis.url))
  await append(database, write(count(5_000).map(value => measured(value, value))))
  const removals = await Promise.all([
    remove(database, alone, thing, key, everything),
    remove(other, alone, thing, key, everything),
    remove(database, alone, thing, key, { from: 2_000 }),
    remove(other, alone, thing, key, { to: 3_000 }),
  ])
  assert.equal(
    removals.reduce((sum, removal) => sum + removal.count, 0),
    5_000,
  )
  const [, ...told] = await logOf(database)
  assert.equal(told.at(-1)?.commit?.latest[0]?.record, undefined)
  assert.deepEqual(
    told.map(({ commit }) => commit?.writeNumber),
    removals.flatMap(({ writeNumber }) => writeNumber ?? []).toSorted((a, b) => a - b),
  )
})

test('remove() takes what its records have left in the crowds, and nothing more', async () => {
  const database = newDatabase(redis.client)
  const values = (datetime: number) =>
    count(300).map(value => measured(datetime, value % 2 ? { value } : `value ${value}`))
  await append(database, write([...values(1_000), ...values(2_000)]))
  const crowd = database.keys.crowd(thing, key)
  assert.equal(await database.call('ZCARD', crowd), 2 * (300 - 256))
  await remove(database, alone, thing, key, { to: 2_000 })
  assert.equal(await database.call('ZCARD', crowd), 300 - 256)
  assert.equal(await database.call('ZCOUNT', crowd, 2_000, 2_000), 300 - 256)
  await remove(database, alone, thing, key, everything)
  assert.equal(await database.call('EXISTS', crowd), 0)
  await append(database, write(values(1_000)))
  assert.equal((await valuesIn(database)).length, 300)
})

test('remove() leaves records in the crowd that are like one of those it takes', async () => {
  const database = newDatabase(redis.client)
  const values = count(700).map(value => (value % 2 ? { value } : `value ${value}`))
  // So far ahead of the clock, it is the receipt time of whatever is written now.
  const receivedAt = Date.now() + 3_600_000
  await database.call('HSET', database.keys.head, 'receipt', receivedAt)
  const old = values.map(value => measured(receivedAt, value))
  // They are kept although they are there: their datetime is the receipt time.
  const later = old.map(record => ({ ...record, datetime: Number.NaN, explicit: false }))
  await append(database, write(old))
  // It begins with the number of the newest write, so this one stays.
  const begin = async <T>(task: () => Promise<T>) => {
    const done = await task()
    await append(database, write(later))
    return done
  }
  assert.equal((await remove(database, begin, thing, key, everything)).count, 700)
  assert.deepEqual(await valuesIn(database), values)
  await append(database, write(old))
  assert.deepEqual(await valuesIn(database), values)
  await remove(database, alone, thing, key, everything)
  assert.equal(await database.call('EXISTS', database.keys.crowd(thing, key)), 0)
})

test('remove() of the newest record writes what is latest then, and what was, to the log', async () => {
  const database = newDatabase(redis.client)
  const { value } = measured(1_000, { a: 'ü\ud800' })
  const left = { key, datetime: 1_000, value, geo: { lat: 0.1, long: 1e-9 } }
  const taken = { key, datetime: 2_000, value: '"taken"', geo: { lat: 41.4112345, long: -2.5 } }
  const [before = assert.fail()] = await append(
    database,
    write([left, taken].map(record => ({ ...record, explicit: true }))),
  )
  const { writeNumber = 0 } = await remove(database, alone, thing, key, { from: 2_000 })
  assert.ok(writeNumber > before.writeNumber)
  assert.equal(Number(await database.call('HGET', database.keys.head, 'number')), writeNumber)
  const [told, removal] = await logOf(database)
  const { commit, undo } = removal ?? assert.fail()
  assert.deepEqual(commit && plain(commit), {
    thingId: thing,
    writeNumber,
    // No write is received: the newest receipt time stands.
    receivedAt: told?.commit?.receivedAt ?? 0,
    broadcast: true,
    stored: true,
    records: [],
    latest: [{ key, record: left }],
  })
  const stateBefore = undo[0]?.before ?? assert.fail()
  assert.equal(writeNumberInState(stateBefore), before.writeNumber)
  assert.deepEqual(
    undo.map(({ before: _, ...rest }) => rest),
    [{ thingId: thing, key, writeNumber }],
  )
  assert.deepEqual(decodeState(key, stateBefore), taken)
})

test('remove() of the last record takes the resource out of the lists', async () => {
  const database = newDatabase(redis.client)
  const { keys } = database
  await append(database, write([received(1), received(1, { key: stateful }), received(1, { key: 'b' })]))
  await append(database, put([state(1)]), write([received(1)], { thingId: otherThing }))
  await remove(database, alone, thing, key, everything)
  assert.equal((await remove(database, alone, thing, stateful, everything)).writeNumber, undefined)
  assert.deepEqual(await names(database, keys.resources(thing)), ['b'])
  assert.deepEqual(await names(database, keys.thingsWith(key)), [otherThing])
  assert.deepEqual(await names(database, keys.thingsWith(stateful)), [thing])
  assert.deepEqual(texts(await database.call('SMEMBERS', keys.emptied(thing))).toSorted(), [stateful, key])
})

test('remove() and removeThing() work while Redis is out of memory', async () => {
  const database = newDatabase(redis.client)
  await append(database, write(count(100).map(value => measured(value, value))))
  await append(database, write(count(100).map(value => measured(value, value))))
  await redis.client.call('CONFIG', 'SET', 'maxmemory', '1')
  try {
    await assert.rejects(append(database, write([received(1)])), { reason: 'store_full' })
    assert.equal((await remove(database, alone, thing, key, { from: 1 })).count, 99)
    await removeThing(database, thing)
  } finally {
    await redis.client.call('CONFIG', 'SET', 'maxmemory', '0')
  }
  assert.deepEqual(await keysOf(database, thing), [])
})

test('removeThing() leaves no trace of the thing, however many resources it has', async () => {
  const database = newDatabase(redis.client)
  const keys = count(450).map(value => `key${value}`)
  for (const thingId of [thing, otherThing]) {
    const crowd = count(300).map(value => measured(1_000, value))
    await append(database, write([...crowd, ...keys.map(key => received(1, { key }))], { thingId, id: 'a' }))
    await append(database, put([state(1), state(2, { key: '$settings' })], { thingId }))
    await database.call('LPUSH', database.keys.refused(thingId), '{}')
    await remove(database, alone, thingId, 'key7', everything)
  }
  const [, , , ...logOfOther] = await logOf(database)
  // Broken off once after a piece.
  await database.run(new Script('remove-thing'), thing)
  await removeThing(database, thing)
  assert.deepEqual(await keysOf(database, thing), [])
  for (const each of [...keys, key, stateful, '$settings'].filter(each => each !== 'key7')) {
    assert.deepEqual(await names(database, database.keys.thingsWith(each)), [otherThing])
  }
  assert.deepEqual(await names(database, database.keys.things), [otherThing])
  assert.deepEqual((await logOf(database)).map(said), logOfOther.map(said))
})

test('removeThing() finds the entries of the thing anywhere in a long log', async () => {
  const database = newDatabase(redis.client)
  const thingIds = count(1_500).map(value => (value % 100 === 99 ? thing : otherThing))
  await append(database, ...thingIds.map(thingId => write([received(1)], { thingId })))
  await removeThing(database, thing)
  const left = await logOf(database)
  assert.equal(left.length, 1_485)
  assert.ok(left.every(({ commit }) => commit?.thingId === otherThing))
})

async function valuesIn(database: RedisDatabase): Promise<unknown[]> {
  const members = await database.call('ZRANGE', database.keys.records(thing, key), 0, -1)
  return (members as Buffer[]).map(member => JSON.parse(decodeMember(key, 0, member).value))
}

async function logOf(database: RedisDatabase) {
  const entries = (await database.call('XRANGE', database.keys.log, '-', '+')) as unknown as LogEntry[]
  return entries.map(entry => decodeEntry(entry))
}

/** An entry, and what its commit says. */
function said({ commit, ...entry }: DecodedEntry) {
  return { ...entry, commit: commit && plain(commit) }
}

async function names(database: RedisDatabase, sortedSet: string): Promise<string[]> {
  return texts(await database.call('ZRANGE', sortedSet, 0, -1))
}

/** Every key of the database that has the thing's id in its name. */
async function keysOf(database: RedisDatabase, thingId: string): Promise<string[]> {
  return texts(await database.call('KEYS', `${database.keys.base}*${thingId}*`))
}

function texts(reply: unknown): string[] {
  return (reply as Buffer[]).map(String)
}
