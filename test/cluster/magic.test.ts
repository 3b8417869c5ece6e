import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunningNodes } from '../helpers/cluster.ts'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import type { MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTest } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'

const listingNode = fileURLToPath(new URL('listing-node.ts', import.meta.url))
/** A killed leader is missed after 10 s at the latest; milliseconds. */
const takeover = { timeout: 100_000, interval: 100 }

async function start(program?: string): Promise<RunningNodes> {
  const cluster = await nodesOfTest(2, { environment: noRateLimits, ...(program && { program }) })
  return cluster
}

/** The value of what is latest of the key; undefined if there is nothing. */
async function latest(node: ServerProcess, { thingToken }: Thing, key: string): Promise<unknown> {
  const response = await fetch(`${node.url}/v2/things/${thingToken}/resources/${key}`)
  const body = (await response.json()) as { value: unknown }[]
  return response.status === 404 ? undefined : body[0]?.value
}

/** What was told of the key so far, oldest first: parsed values, undefined for a removal. */
function told(client: MqttClient, { thingId }: Thing, key: string): unknown[] {
  return client.received.flatMap(packet => {
    if (packet.cmd !== 'publish' || packet.topic !== `things/${thingId}/values/${key}`) return []
    const text = packet.payload.toString()
    return [text === '' ? undefined : (JSON.parse(text) as { value: unknown }).value]
  })
}

async function subscribe(node: ServerProcess, { thingId, thingToken }: Thing): Promise<MqttClient> {
  const client = await mqttOfTest({ url: node.mqttUrl, username: thingToken })
  await client.subscribe(`things/${thingId}/values/+`)
  return client
}

/** One write at a time to `$list`, through the nodes in turn: numbers from 0 on. */
class Writer {
  readonly attempted: number[] = []
  readonly acked: number[] = []
  readonly #thing: Thing
  #isOver = false
  readonly #nodes: () => readonly ServerProcess[]
  readonly #done: Promise<void>

  constructor(thing: Thing, nodes: () => readonly ServerProcess[]) {
    this.#thing = thing
    this.#nodes = nodes
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(): Promise<void> {
    for (let value = 0; !this.#isOver; value++) {
      const nodes = this.#nodes()
      const node = nodes[value % nodes.length]
      if (!node) throw new Error('no node is left')
      this.attempted.push(value)
      const values = [{ key: '$list', value }]
      // What a kill cuts off may be kept or not.
      const answer = await write(node, this.#thing, { values }).catch(() => undefined)
      if (answer?.status === 201) this.acked.push(value)
    }
  }
}

describe('magic records written through two nodes', () => {
  it('are applied once and in order, though the node that applies them is killed, twice', async () => {
    const cluster = await start(listingNode)
    const things = await Promise.all([0, 1, 2].map(() => createThing(cluster.node(0))))
    const writers = things.map(thing => new Writer(thing, () => cluster.nodes.filter(isRunning)))
    onTestFinished(async () => void (await Promise.all(writers.map(writer => writer.stop()))))
    const moreAcks = async (count: number) => {
      const enough = writers.map(({ acked }) => acked.length + count)
      const all = () => writers.every(({ acked }, index) => acked.length >= (enough[index] ?? 0))
      await expect.poll(all, takeover).toBe(true)
    }
    const applied = async (node: ServerProcess) => {
      const enough = writers.map(({ acked }) => acked.length)
      const lengths = async () =>
        Promise.all(
          things.map(async thing => ((await latest(node, thing, '$list')) as unknown[] | undefined)?.length),
        )
      const all = async () => (await lengths()).every((length = 0, index) => length >= (enough[index] ?? 0))
      await expect.poll(all, takeover).toBe(true)
    }
    await moreAcks(30)
    // The first one was there first, and leads.
    await cluster.node(0).kill()
    const watching = await Promise.all(things.map(thing => subscribe(cluster.node(1), thing)))
    const third = await cluster.add()
    await moreAcks(30)
    await applied(third)
    for (const client of watching) await client.ping()
    const seen = watching.map((client, index) => told(client, things[index] ?? expect.fail(), '$list'))
    await cluster.node(1).kill()
    await moreAcks(30)
    for (const writer of writers) await writer.stop()
    await applied(third)
    for (const [index, thing] of things.entries()) {
      const { acked, attempted } = writers[index] ?? expect.fail()
      const list = (await latest(third, thing, '$list')) as number[]
      expect(list.filter(value => acked.includes(value))).toEqual(acked)
      expect(new Set(list).size).toBe(list.length)
      expect(list).toEqual(attempted.filter(value => list.includes(value)))
      // Each state was announced once.
      const states = (seen[index] ?? []) as number[][]
      expect(states.length).toBeGreaterThan(20)
      expect(states.map(({ length }) => length)).toEqual(
        states.map((_, place) => (states[0]?.length ?? 0) + place),
      )
    }
  })

  it('are announced on every node and kept on none with store=false', async () => {
    const cluster = await start()
    const thing = await createThing(cluster.node(0))
    const clients = await Promise.all(cluster.nodes.map(node => subscribe(node, thing)))
    for (const [index, node] of cluster.nodes.entries()) {
      const values = [{ key: '$settings.at', value: index }]
      expect((await write(node, thing, { values, store: false })).status).toBe(201)
      for (const client of clients) {
        await expect.poll(() => told(client, thing, '$settings'), takeover).toHaveLength(index + 1)
      }
    }
    for (const client of clients) expect(told(client, thing, '$settings')).toEqual([{ at: 0 }, { at: 1 }])
    for (const node of cluster.nodes) expect(await latest(node, thing, '$settings')).toBeUndefined()
  })
})

describe('DELETE of a state', () => {
  it('takes what was acknowledged before it on any node, through whichever node it is asked', async () => {
    const cluster = await start()
    const thing = await createThing(cluster.node(0))
    const clients = await Promise.all(cluster.nodes.map(node => subscribe(node, thing)))
    const expected: unknown[] = []
    for (let round = 0; round < 12; round++) {
      const [writing, deleting] = [cluster.node(round % 2), cluster.node((round >> 1) % 2)]
      const values = [{ key: '$settings', value: { round, more: true } }]
      expect((await write(writing, thing, { values })).status).toBe(201)
      const isPart = round % 3 === 0
      if (isPart) {
        await remove(deleting, thing, '$settings.more')
        for (const node of cluster.nodes) expect(await latest(node, thing, '$settings')).toEqual({ round })
      }
      await remove(deleting, thing, '$settings')
      for (const node of cluster.nodes) expect(await latest(node, thing, '$settings')).toBeUndefined()
      expected.push({ round, more: true }, ...(isPart ? [{ round }] : []), undefined)
    }
    for (const client of clients) {
      await expect.poll(() => told(client, thing, '$settings').length, takeover).toBe(expected.length)
      expect(told(client, thing, '$settings')).toEqual(expected)
    }
  })

  it('is done once there is a node that applies again, if that was killed', async () => {
    const cluster = await start()
    const thing = await createThing(cluster.node(0))
    const values = [{ key: '$settings', value: { a: 1 } }]
    await write(cluster.node(1), thing, { values })
    await expect.poll(() => latest(cluster.node(1), thing, '$settings'), takeover).toEqual({ a: 1 })
    await cluster.node(0).kill()
    await remove(cluster.node(1), thing, '$settings')
    expect(await latest(cluster.node(1), thing, '$settings')).toBeUndefined()
  })
})

async function remove(node: ServerProcess, { thingId }: Thing, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${node.adminKey}` }
  const url = `${node.url}/v2/things/${thingId}/resources/${key}`
  const response = await fetch(url, { method: 'DELETE', headers })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
}

function isRunning({ process }: ServerProcess): boolean {
  return process.exitCode === null && process.signalCode === null && !process.killed
}
