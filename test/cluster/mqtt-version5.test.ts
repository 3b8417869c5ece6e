import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing } from '../helpers/http-client.ts'
import type { ConnectOptions, MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

const cluster = nodesOfTests(2, { environment: { THINGWIRE_WILL_GRACE: '5000' } })

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

/** Kills a node. Resolves when it counts as dead at one of the others. */
async function die(node: ServerProcess, ...others: readonly ServerProcess[]): Promise<void> {
  const [, name] = await node.logged(/"the other nodes know this node as ([^\s"]+)/)
  await node.kill()
  const isMissed = new RegExp(`"level":40,.*"node ${name} was silent for 25 s and counts as dead`)
  await Promise.race(others.map(other => other.logged(isMissed)))
}

async function isPresent(node: ServerProcess, thing: Thing, clientId: string): Promise<boolean> {
  const client = await connect(node, thing, { clientId, ...lasting(1_000) })
  return client.connack.sessionPresent
}

describe('a client of version 5 at another node', () => {
  it('has no delayed will written if it goes on with its session there, and has it if it does not', async () => {
    const thing = await createThing(cluster.node(0))
    await (await connect(cluster.node(0), thing, withWill(thing, 'back', 2))).destroy()
    await (await connect(cluster.node(0), thing, withWill(thing, 'new', 1_000))).destroy()
    await (await connect(cluster.node(0), thing, withWill(thing, 'gone', 3))).destroy()
    expect(await isPresent(cluster.node(1), thing, 'back')).toBe(true)
    await connect(cluster.node(1), thing, { clientId: 'new', clean: true })
    expect(await willsOf(thing)).toEqual(['new'])
    await expect.poll(() => willsOf(thing)).toEqual(['gone', 'new'])
  })

  it('keeps a session that would have ended at the node before', async () => {
    const thing = await createThing(cluster.node(0))
    await (await connect(cluster.node(0), thing, { clientId: 'board', ...lasting(2) })).destroy()
    await (await connect(cluster.node(0), thing, { clientId: 'ended', ...lasting(2) })).destroy()
    const moved = await connect(cluster.node(1), thing, { clientId: 'board', ...lasting(1_000) })
    expect(moved.connack.sessionPresent).toBe(true)
    await moved.destroy()
    // A session that ends ends within the same interval.
    await connect(cluster.node(1), thing, withWill(thing, 'clock', 4)).then(client => client.destroy())
    await expect.poll(() => willsOf(thing)).toEqual(['clock'])
    expect(await isPresent(cluster.node(0), thing, 'board')).toBe(true)
    expect(await isPresent(cluster.node(1), thing, 'ended')).toBe(false)
  })
})

describe('a node that is killed', () => {
  it('leaves delayed wills and the ends of sessions to another one', async () => {
    const thing = await createThing(cluster.node(0))
    const doomed = await cluster.add()
    await (await connect(doomed, thing, withWill(thing, 'lost', 1))).destroy()
    await (await connect(doomed, thing, withWill(thing, 'lost, back', 1_000))).destroy()
    await connect(doomed, thing, withWill(thing, 'open', 1))
    await connect(doomed, thing, withWill(thing, 'open, back', 1_000))
    await (await connect(doomed, thing, { clientId: 'ended', ...lasting(20) })).destroy()
    await connect(doomed, thing, { clientId: 'ending', ...lasting(1) })
    await connect(doomed, thing, { clientId: 'none', ...lasting(0) })
    await die(doomed, cluster.node(0), cluster.node(1))
    expect(await isPresent(cluster.node(1), thing, 'lost, back')).toBe(true)
    expect(await isPresent(cluster.node(0), thing, 'open, back')).toBe(true)
    expect(await isPresent(cluster.node(0), thing, 'none')).toBe(false)
    const early = (await willsOf(thing)).filter(clientId => clientId !== 'lost')
    expect(early).toEqual([])
    await expect.poll(() => willsOf(thing), { timeout: 50_000 }).toEqual(['lost', 'open'])
    expect(await isPresent(cluster.node(1), thing, 'ending')).toBe(false)
    expect(await isPresent(cluster.node(1), thing, 'ended')).toBe(false)
  })
})
