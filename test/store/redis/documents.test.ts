import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { putTo, waitedFor } from '../../../src/conformance/writes.ts'
import { settle } from '../../../src/store/commit-ticket.ts'
import type { Document, DocumentChange, DriverDocuments } from '../../../src/store/contract.ts'
import { GroupCommit } from '../../../src/store/group-commit.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { createDocuments } from '../../../src/store/redis/documents.ts'
import { type Keys, redisKeys } from '../../../src/store/redis/keys.ts'
import type { Client } from '../../../src/store/redis/script.ts'
import { redisClientOfTest, redisOfTests } from '../../helpers/redis-of-test.ts'

const redis = redisOfTests()

let keys: Keys
beforeEach(() => {
  keys = redisKeys(randomUUID())
})

/** Does what another node does before each put is run. */
class DisturbedDatabase extends RedisDatabase {
  readonly #disturbances: (() => Promise<unknown>)[]

  constructor(client: Client, disturbances: (() => Promise<unknown>)[]) {
    super(keys, randomUUID(), client)
    this.#disturbances = disturbances
  }

  override async run(...call: Parameters<RedisDatabase['run']>) {
    // With less it asks for the time.
    if (call.length > 3) await this.#disturbances.shift()?.()
    return await super.run(...call)
  }
}

/** The documents of one node, whose puts are transactions: commits are not looked at here. */
async function node(
  disturbances: (() => Promise<unknown>)[] = [],
): Promise<{ client: Client; documents: DriverDocuments }> {
  const client = await redisClientOfTest(redis.url)
  const database = new DisturbedDatabase(client, disturbances)
  const oneByOne = new GroupCommit<never, never>({ commit: async () => [] }, () => 0, 1)
  const documents: DriverDocuments = createDocuments(database, new NumberedWrites(database), {
    put: (encoded, ticket) => {
      const put = Object.fromEntries(encoded.map(([name, json]) => [name, json && JSON.parse(json)]))
      settle(
        ticket,
        documents.transact([], () => ({ put, result: 0, purpose: 'keep' })),
      )
    },
    alone: task => oneByOne.alone(task),
  })
  return { client, documents }
}

const increment = ([counter]: readonly (Document | undefined)[]): DocumentChange<number> => {
  const value = Number(counter?.value ?? 0) + 1
  return { put: { counter: { value } }, result: value, purpose: 'keep' }
}

test('transact() loses no increment of two nodes', async () => {
  const nodes = [await node(), await node()]
  const many = Array.from({ length: 100 }, (_, index) => index)
  const results = await Promise.all(
    many.flatMap(() => nodes.map(({ documents }) => documents.transact(['counter'], increment))),
  )
  expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
})

test('transact() begins anew where one of what it read was changed, made or removed meanwhile', async () => {
  const { client, documents } = await node([
    () => client.hset(keys.documents, 'changed', '{"is":2}'),
    () => client.hdel(keys.documents, 'removed'),
    () => client.hset(keys.documents, 'made', '{"is":3}'),
  ])
  await client.hset(keys.documents, { changed: '{"is":1}', removed: '{"is":1}' })
  const seen: unknown[] = []
  await documents.transact(['changed', 'removed', 'made'], read => {
    seen.push(read)
    return { put: { rounds: { count: seen.length } }, result: undefined, purpose: 'keep' }
  })
  expect(seen).toEqual([
    [{ is: 1 }, { is: 1 }, undefined],
    [{ is: 2 }, { is: 1 }, undefined],
    [{ is: 2 }, undefined, undefined],
    [{ is: 2 }, undefined, { is: 3 }],
  ])
  expect(await documents.get('rounds')).toEqual({ count: 4 })
})

test('transact() puts where nothing of what it read has changed, whatever else has', async () => {
  const { client, documents } = await node([() => client.hset(keys.documents, 'b', '{}')])
  let rounds = 0
  const change = () => ({ put: { a: { rounds: ++rounds } }, result: undefined, purpose: 'keep' }) as const
  await documents.transact(['a'], change)
  expect(await documents.list('', { limit: 10 })).toEqual([['a', { rounds: 1 }]])
})

test('names and contents agree, whatever was put and removed', async () => {
  const { client, documents } = await node()
  await putTo(documents, { a: {}, b: {}, 'ä/\u{1f600}': {} }, waitedFor())
  await putTo(documents, { a: { is: 2 }, b: null, never: null }, waitedFor())
  await documents.transact(['a'], () => ({ put: { a: null, c: {} }, result: undefined, purpose: 'keep' }))
  const names = ['c', 'ä/\u{1f600}']
  expect(await client.zrange(keys.documentNames, 0, -1)).toEqual(names)
  expect((await client.hkeys(keys.documents)).toSorted()).toEqual(names)
})

test('list() gives names that are not ASCII by their bytes, thousands at once', async () => {
  const { documents } = await node()
  const put = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`ä/${index}`, { index }]))
  await documents.transact([], () => ({
    put: { ...put, ä0: {}, ä: {}, '\u{1f600}/1': {} },
    result: 0,
    purpose: 'keep',
  }))
  const listed = await documents.list('ä/', { limit: 10_000 })
  expect(listed).toHaveLength(2_500)
  expect(listed.every(([name, { index }]) => name === `ä/${index}`)).toBe(true)
  expect(await documents.list('ä/', { after: 'ä/9', limit: 2 })).toEqual([
    ['ä/90', { index: 90 }],
    ['ä/900', { index: 900 }],
  ])
  expect(await documents.list('\u{1f600}', { limit: 2 })).toEqual([['\u{1f600}/1', {}]])
})

test('transact() changes documents when Redis has no memory left', async () => {
  const { client, documents } = await node()
  await documents.transact([], () => ({ put: { gone: {}, stays: { is: 1 } }, result: 0, purpose: 'keep' }))
  await client.config('SET', 'maxmemory', '1')
  try {
    await documents.transact(['gone'], () => ({
      put: { gone: null, stays: { is: 2 } },
      result: 0,
      purpose: 'keep',
    }))
    expect(await documents.list('', { limit: 10 })).toEqual([['stays', { is: 2 }]])
  } finally {
    await client.config('SET', 'maxmemory', '0')
  }
})

test('transact() rejects with store_unavailable when Redis is away', async () => {
  const { client, documents } = await node()
  client.disconnect()
  await expect(documents.transact(['a'], increment)).rejects.toMatchObject({ reason: 'store_unavailable' })
  await expect(documents.get('a')).rejects.toMatchObject({ reason: 'store_unavailable' })
})
