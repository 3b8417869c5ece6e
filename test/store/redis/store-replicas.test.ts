import { expect, onTestFinished, test } from 'vitest'
import { otherThing, received, valuesOf, waitedFor, write } from '../../../src/conformance/writes.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { RedisCommitter } from '../../../src/store/redis/committer.ts'
import { duplicateForBlocking } from '../../../src/store/redis/connection/connection.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { waitingForReplicas } from '../../../src/store/redis/connection/replicas.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import type { Caller } from '../../../src/store/redis/script.ts'
import { replicatedRedisOfTest } from '../../helpers/redis-of-test.ts'
import { noFollower } from './databases.ts'

const late = { reason: 'store_timeout' }

test('createRedisStore() with replicas acknowledges nothing that they do not have', async () => {
  const { primary, replica } = await replicatedRedisOfTest()
  const { records, documents, close } = await openStore(createRedisStore({ url: primary.url, replicas: 1 }))
  onTestFinished(close)
  const put = () => documents.put({ a: {} }, 'keep')
  const transact = () => documents.transact([], () => ({ put: { b: {} }, result: 0, purpose: 'keep' }))
  await records.append(write([received(1)]))
  await records.append(write([received(1)], { thingId: otherThing }))
  await Promise.all([put(), transact()])

  replica.process.kill('SIGSTOP')
  await expect(records.append(write([received(2)], { id: 'a' }))).rejects.toMatchObject(late)
  await expect(put()).rejects.toMatchObject(late)
  await expect(transact()).rejects.toMatchObject(late)
  await expect(records.remove(otherThing, 'temperature', {})).rejects.toMatchObject(late)
  await expect(records.removeThing(otherThing)).rejects.toMatchObject(late)
  // Sent again: it is there, and the replica does not have it still.
  await expect(records.append(write([received(2)], { id: 'a' }))).rejects.toMatchObject(late)

  replica.process.kill('SIGCONT')
  await records.append(write([received(2)], { id: 'a' }))
  expect(await valuesOf(records)).toEqual([1, 2])
})

test('a commit whose reply was lost is acknowledged when the replicas have it, and not before', async () => {
  const { replica, client } = await replicatedRedisOfTest()
  const another = await duplicateForBlocking(client)
  onTestFinished(() => another.disconnect())
  const waiting = waitingForReplicas(another, { replicas: 1 })
  let isCut = false
  const caller: Caller = {
    async callBuffer(...command) {
      if (isCut) return await waiting.callBuffer(...command)
      const reply = await client.callBuffer(...command)
      isCut = true
      throw new Error(`Connection is closed, ${reply} is lost`)
    },
  }
  const commit = () => {
    isCut = false
    const change = { write: write([received(1)], { id: 'a' }), documents: [] }
    return new RedisCommitter(
      new NumberedWrites(new RedisDatabase(redisKeys('lost'), 'node', caller)),
      noFollower,
    ).commit([{ change, ticket: waitedFor() }])
  }
  // So that the script is there, and it is the commit whose reply is lost.
  await commit()
  await client.flushdb()
  replica.process.kill('SIGSTOP')
  await expect(commit()).rejects.toMatchObject(late)
  await client.flushdb()
  replica.process.kill('SIGCONT')
  expect(await commit()).toMatchObject([{ answer: {} }])
})
