import { waitedFor } from '../../../src/conformance/writes.ts'
import { ThingwireError } from '../../../src/errors.ts'
import type { Append, Receipt } from '../../../src/store/contract.ts'
import { RedisCommitter } from '../../../src/store/redis/committer.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import type { Client } from '../../../src/store/redis/script.ts'

let newest = 0

/** A database that is new and empty, as one node has it. */
export function newDatabase(client: Client): RedisDatabase {
  newest++
  return new RedisDatabase(redisKeys(`test${newest}`), `node${newest}`, client)
}

/** The same database over another connection: another node's. */
export function sameDatabase(database: RedisDatabase, client: Client): RedisDatabase {
  newest++
  return new RedisDatabase(database.keys, `node${newest}`, client)
}

/** It has read nothing, and is brought nothing. */
export const noFollower = { newestRead: 0, take: () => 0 }
const committers = new WeakMap<RedisDatabase, RedisCommitter>()

/** Commits writes as one group. */
export async function append(database: RedisDatabase, ...writes: readonly Append[]): Promise<Receipt[]> {
  const pending = writes.map(write => ({
    change: { write, documents: [], lock: write.lock },
    ticket: waitedFor(),
  }))
  const committer = committers.get(database) ?? new RedisCommitter(new NumberedWrites(database), noFollower)
  committers.set(database, committer)
  const results = await committer.commit(pending)
  return results.map(result => {
    if (result instanceof ThingwireError) throw result
    return result as Receipt
  })
}

/** Runs it at once: nothing was handed in before. */
export async function alone<T>(task: () => Promise<T>): Promise<T> {
  return await task()
}

/** Makes the log look as if 100,000 entries had come behind this write. */
export async function crowdLog(database: RedisDatabase, writeNumber: number): Promise<void> {
  await database.call('DEL', database.keys.logMarks)
  await database.call('RPUSH', database.keys.logMarks, ...Array<number>(100).fill(writeNumber))
}
