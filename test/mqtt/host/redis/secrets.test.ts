import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { createThing, type Thing, write } from '../../../helpers/http-client.ts'
import { isMessageOn } from '../../../helpers/mqtt-client.ts'
import { redisClientOfTest, redisOfTest } from '../../../helpers/redis-of-test.ts'
import { Evidence } from '../../../secrets/evidence.ts'
import { connectThing, connectUser, type PlantNode, plantOfTest } from './plant.ts'

it('no token of a thing is in the Redis of a host, nor goes through it, nor is it told', async () => {
  const redis = await redisOfTest()
  const client = (await redisClientOfTest(redis.url)) as Redis
  const evidence = new Evidence()
  const monitor = await client.monitor()
  monitor.on('monitor', (_time: string, args: string[]) => {
    evidence.add('told', `${args[0]} of Redis`, args.join(' '))
  })
  const nodes = [await plantOfTest(redis.url), await plantOfTest(redis.url)] as const
  const thing = await createThing(nodes[0])
  evidence.addSecret('thing token', thing.thingToken)

  await playThing(nodes[0], nodes[1], thing)
  await playUser(nodes[1], thing)
  // Some are connected, with a will, when the first node ends in good order and the other one is killed.
  const will = { topic: `things/${thing.thingToken}/write`, payload: reading(9), qos: 1 } as const
  for (const node of nodes) await connectThing(node, thing, { clientId: `stays ${thing.thingToken}`, will })
  evidence.add('told', 'stderr of a node', (await nodes[0].stop()).stderr)
  evidence.add('told', 'output of a node', await nodes[1].kill())
  monitor.disconnect()

  await addKeys(evidence, client)
  await addFiles(evidence, redis.directory)
  const seen = [
    ['files', 'hash client:panel', 'plant/#'],
    ['files', 'hash retained', 'plant/press'],
    ['files', 'stream thingwire', thing.thingId],
    ['files', 'the file', thing.thingId],
    ['told', 'publish', `thing.${thing.thingId}`],
    ['told', 'output', 'The plant is ready'],
  ] as const
  expect(seen.filter(([kind, where, text]) => !evidence.holds(kind, where, text))).toEqual([])
  expect(evidence.leaks()).toEqual([])
})

function reading(value: unknown) {
  return { values: [{ key: 'n', value }] }
}

/** Uses the token wherever a thing can. */
async function playThing(first: PlantNode, second: PlantNode, thing: Thing): Promise<void> {
  const { thingToken } = thing
  const topics = [`things/${thingToken}/write`, `v2/things/${thingToken}`]
  for (const clean of [true, false]) {
    const listener = await connectThing(second, thing, { clientId: thingToken, clean })
    const filters = [`things/${thingToken}/#`, `v2/things/${thingToken}`, `things/+/values/${thingToken}`]
    expect(await listener.subscribeAll(filters, 2)).toEqual([2, 2, 128])
    const will = { topic: topics[0] ?? '', payload: reading(thingToken), qos: 2 } as const
    const client = await connectThing(first, thing, { clientId: 'board', clean, will })
    for (const topic of topics) {
      for (const qos of [0, 1, 2] as const) {
        await client.publish(topic, reading(qos), { qos })
        await client.publish(topic, { values: [{ key: thingToken }] }, { qos, retain: true })
      }
    }
    await client.publish(`plant/${thingToken}`, thingToken, { retain: true })
    await client.publish(`things/${thingToken}/values/n`, thingToken, { retain: true })
    await listener.next(isMessageOn(`things/${thingToken}/values/n`))
    await listener.unsubscribe(`things/${thingToken}/#`)
    await listener.disconnect()
    await client.destroy()
  }
  expect((await write(second, thing, reading(4))).status).toBe(201)
  expect((await write(second, thing, { values: [{ key: thingToken }] })).status).toBe(400)
}

/** Uses the token wherever a user of the host, who knows it, can use one of a thing. */
async function playUser(node: PlantNode, { thingToken }: Thing): Promise<void> {
  const filters = ['plant/#', `things/${thingToken}/values/n`, `v2/things/${thingToken}`]
  const will = { topic: `things/${thingToken}/write`, payload: reading(5), qos: 1 } as const
  for (const clean of [true, false]) {
    const panel = await connectUser(node, 'panel', { clientId: 'panel', clean, will })
    expect(await panel.subscribeAll(filters)).toEqual(clean ? [1, 1, 1] : [1, 128, 128])
    for (const qos of [0, 1, 2] as const) {
      await panel.publish(`things/${thingToken}/write`, reading(6), { qos, retain: true })
    }
    await panel.unsubscribe(`things/${thingToken}/values/n`, `v2/things/${thingToken}`)
    await panel.destroy()
  }
  const controller = await connectUser(node, 'controller')
  await controller.publish('plant/press', 'on', { retain: true, qos: 2 })
}

async function addKeys(evidence: Evidence, client: Redis): Promise<void> {
  for await (const keys of client.scanStream() as AsyncIterable<string[]>) {
    for (const key of keys) {
      const type = await client.type(key)
      const where = `${type} ${key.split(/[:{]/, 2).join(':')}`
      evidence.add('files', where, key)
      for (const part of await partsOf(client, key, type)) evidence.add('files', where, part)
    }
  }
}

async function partsOf(client: Redis, key: string, type: string): Promise<readonly Buffer[]> {
  const commands: Readonly<Record<string, readonly string[]>> = {
    string: ['GET'],
    hash: ['HGETALL'],
    list: ['LRANGE', '0', '-1'],
    set: ['SMEMBERS'],
    zset: ['ZRANGE', '0', '-1'],
    stream: ['XRANGE', '-', '+'],
  }
  const [command, ...args] = commands[type] ?? []
  if (command === undefined) throw new Error(`${key} is a ${type}`)
  return flat(await client.callBuffer(command, key, ...args))
}

function flat(reply: unknown): Buffer[] {
  if (Buffer.isBuffer(reply)) return [reply]
  return Array.isArray(reply) ? reply.flatMap(flat) : []
}

/** The files of a Redis that has never rewritten them hold every command that has changed something. */
async function addFiles(evidence: Evidence, directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) evidence.add('files', `the file ${entry.name}`, await readFile(path))
  }
}
