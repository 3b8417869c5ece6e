import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import {
  type ConnectOptions,
  isMessageOn,
  isOf,
  type MqttClient,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { nodeOfTest, nodesOfTests, pathOfTest } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { nextOn, numbers } from '../mqtt/messages.ts'
import { committed, connect, reading, sentOnce, startWriting, untilSent, valuesSent } from './mqtt-load.ts'

const cluster = nodesOfTests(2, { environment: noRateLimits })

const session = { clientId: 'board', clean: false }

/** A session that is subscribed to `n`, left on the first node. */
async function leaveSession(thing: Thing): Promise<MqttClient> {
  const client = await connect(cluster.node(0), thing, session)
  await client.subscribe(`things/${thing.thingId}/values/n`)
  await client.disconnect()
  await client.untilClosed()
  return client
}

/** The last value of all, which the session is sent behind all others. */
async function finish(node: ServerProcess, thing: Thing, client: MqttClient, value = 'last'): Promise<void> {
  expect((await write(node, thing, reading(value))).status).toBe(201)
  await untilSent(client, value)
}

/** Ways in which a connection ends before the client is on the other node. */
const ways = {
  'leaves with DISCONNECT': (client: MqttClient) => client.disconnect(),
  'is cut off': (client: MqttClient) => client.destroy(),
  'is taken over': () => Promise.resolve(),
} as const

describe('a persistent session that goes from node to node while both take writes', () => {
  it.each(Object.entries(ways))('%s: is sent everything, in commit order', async (_way, end) => {
    const thing = await createThing(cluster.node(0))
    const connections = [await leaveSession(thing)]
    const stop = startWriting(cluster.nodes, thing)
    for (const visit of numbers(12)) {
      const client = await connect(cluster.node(visit % 2), thing, session)
      expect(client.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
      connections.push(client)
      await delay((visit * 17) % 60)
      await end(client)
    }
    await stop()
    const last = await connect(cluster.node(0), thing, session)
    await finish(cluster.node(1), thing, last)
    const order = await committed(cluster.node(0), thing)
    expect(order.length).toBeGreaterThan(20)
    expect(sentOnce([...connections, last])).toEqual(order)
  })

  it('that several connections on both nodes want at once is one of theirs, which is sent everything', async () => {
    const thing = await createThing(cluster.node(0))
    const connections = [await leaveSession(thing)]
    const stop = startWriting(cluster.nodes, thing)
    for (const _ of numbers(4)) {
      const opening = numbers(6).map(index =>
        connect(cluster.node(index % 2), thing, session).catch(() => undefined),
      )
      connections.push(...(await Promise.all(opening)).flatMap(client => client ?? []))
    }
    await stop()
    const last = await connect(cluster.node(1), thing, session)
    await finish(cluster.node(0), thing, last)
    const order = await committed(cluster.node(0), thing)
    // In which order the connections had the session, is not seen from here.
    const sent = [...connections, last].flatMap(valuesSent)
    const fresh = sent.filter(({ dup }) => !dup).map(({ value }) => value)
    expect(fresh).toEqual([...new Set(fresh)])
    expect(new Set(sent.map(({ value }) => value))).toEqual(new Set(order))
    for (const connection of connections) await connection.untilClosed()
  })
})

describe('a persistent session whose node is killed', () => {
  it('is sent everything on another node, in commit order, and what was sent before with DUP', async () => {
    const thing = await createThing(cluster.node(0))
    const connections = [await leaveSession(thing)]
    for (const _ of numbers(2)) {
      const doomed = await cluster.add()
      const stop = startWriting([cluster.node(0), cluster.node(1), doomed], thing, 50)
      const client = await connect(doomed, thing, session)
      connections.push(client)
      await client.next(packet => packet.cmd === 'publish')
      await delay(300)
      await doomed.kill()
      await client.untilClosed()
      const next = await connect(cluster.node(1), thing, session)
      expect(next.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
      connections.push(next)
      await delay(100)
      await stop()
      await next.disconnect()
    }
    const last = await connect(cluster.node(0), thing, session)
    await finish(cluster.node(0), thing, last)
    expect(sentOnce([...connections, last])).toEqual(await committed(cluster.node(1), thing))
  })

  it('takes its QoS 2 packets once, though they are sent again to another node', async () => {
    const thing = await createThing(cluster.node(0))
    const topic = `things/${thing.thingToken}/write`
    const doomed = await cluster.add()
    const client = await connect(doomed, thing, session)
    // Records without a datetime: what is taken twice is stored twice.
    const packets = numbers(20).map(value =>
      publishPacket(topic, { values: [{ key: 'n', value }] }, { qos: 2, messageId: value + 1 }),
    )
    client.send(...packets)
    await client.next(isOf('pubrec', 10))
    await doomed.kill()
    await client.untilClosed()
    const next = await connect(cluster.node(1), thing, session)
    for (const value of numbers(20)) {
      const messageId = value + 1
      if (client.acknowledgements.includes(`pubcomp ${messageId}`)) continue
      const body = { values: [{ key: 'n', value }] }
      await next.publish(topic, body, { qos: 2, dup: true, messageId })
    }
    expect((await committed(cluster.node(0), thing)).toSorted()).toEqual(numbers(20).toSorted())
  })
})

describe('a persistent session whose node stands still', () => {
  it('is taken by another node, and not by the first one when that goes on', async () => {
    const thing = await createThing(cluster.node(0))
    const connections = [await leaveSession(thing)]
    const frozen = await cluster.add()
    const before = await connect(frozen, thing, session)
    await finish(frozen, thing, before, 'before')
    frozen.process.kill('SIGSTOP')
    const after = await connect(cluster.node(1), thing, session)
    expect(after.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    await after.subscribe(`things/${thing.thingId}/values/m`)
    frozen.process.kill('SIGCONT')
    await before.untilClosed()
    await finish(cluster.node(0), thing, after, 'after')
    await after.disconnect()
    expect(await write(cluster.node(0), thing, { values: [{ key: 'm', value: 'away' }] })).toMatchObject({
      status: 201,
    })
    // A server that stops lets go of its sessions first.
    expect((await frozen.stop()).code).toBe(0)
    const last = await connect(cluster.node(0), thing, session)
    expect(last.connack.sessionPresent).toBe(true)
    expect(JSON.parse((await nextOn(last, '/m')).payload)).toMatchObject({ value: 'away' })
    await finish(cluster.node(0), thing, last)
    expect(sentOnce([...connections, before, after, last])).toEqual(['before', 'after', 'last'])
  })
})

describe('a persistent session whose node stands still', () => {
  it('is of the connection that came last at any other node, and nobody waits for that node', async () => {
    const thing = await createThing(cluster.node(0))
    await leaveSession(thing)
    const frozen = await cluster.add()
    const before = await connect(frozen, thing, session)
    frozen.process.kill('SIGSTOP')
    // One takes it from the other, which may have been let in before.
    const others = [0, 1].map(async index => {
      const letIn = await connect(cluster.node(index), thing, session).catch((error: Error) => {
        expect(error.message).toContain('closed')
      })
      await letIn?.untilClosed()
      return index
    })
    const superseded = await Promise.race(others)
    const last = await connect(cluster.node(superseded), thing, session)
    expect(last.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    await Promise.all(others)
    await finish(cluster.node(1), thing, last)
    frozen.process.kill('SIGCONT')
    await before.untilClosed()
    await frozen.stop()
  })
})

describe('a client of a node that was cut off until the log did not go back so far', () => {
  it('is closed, and gets what it has missed, or the present, when it comes back', async () => {
    const path = await pathOfTest(cluster.redis.port)
    const node = await nodeOfTest(`redis://127.0.0.1:${path.port}`, cluster.adminKey)
    const thing = await createThing(cluster.node(0))
    const operator = { username: 'operator', password: cluster.adminKey }
    const filter = `things/${thing.thingId}/values/n`
    const persistent = await connect(node, thing, { ...operator, ...session })
    const clean = await connect(node, thing, operator)
    for (const client of [persistent, clean]) await client.subscribe(filter)
    path.refuse()
    for (const value of ['first', 'second']) {
      expect((await write(cluster.node(0), thing, reading(value))).status).toBe(201)
    }
    await trimWhatNobodyNeeds()
    path.restore()
    await Promise.all([persistent.untilClosed(), clean.untilClosed()])
    const back = await comeBack(node, thing, { ...operator, ...session })
    await untilSent(back, 'second')
    expect(sentOnce([persistent, back])).toEqual(['first', 'second'])
    const again = await connect(node, thing, operator)
    await again.subscribe(filter)
    const { payload, retain } = await again.next(isMessageOn(filter))
    expect([retain, JSON.parse(payload.toString()).value]).toEqual([true, 'second'])
  })
})

/** Connects until it is taken: the node may have been the first to close, for not having reached Redis yet. */
async function comeBack(node: ServerProcess, thing: Thing, options: ConnectOptions): Promise<MqttClient> {
  for (;;) {
    const client = await connect(node, thing, options)
    if (client.connack.returnCode === 0) return client
    await client.untilClosed()
  }
}

/** As when a node is away for long, and all that is in the log is what sessions may miss. */
async function trimWhatNobodyNeeds(): Promise<void> {
  const client = await openClient(cluster.redis.url)
  const head = 'thingwire:{0}:head'
  await client.hset(head, 'trimmed', (await client.hget(head, 'number')) ?? '')
  client.disconnect()
}

it('a QoS 2 packet that was received on one node is released on another', async () => {
  const thing = await createThing(cluster.node(0))
  const topic = `things/${thing.thingToken}/write`
  const first = await connect(cluster.node(0), thing, session)
  const messageId = await first.publishUntilPubrec(topic, { values: [{ key: 'n', value: 'first' }] })
  const second = await connect(cluster.node(1), thing, session)
  await first.untilClosed()
  await second.publishUntilPubrec(topic, { values: [{ key: 'n', value: 'first' }] }, { dup: true, messageId })
  await second.release(messageId)
  await second.publish(topic, { values: [{ key: 'n', value: 'second' }] }, { qos: 2, messageId })
  expect(await committed(cluster.node(0), thing)).toEqual(['first', 'second'])
})
