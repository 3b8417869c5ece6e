import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing } from '../helpers/http-client.ts'
import type { ConnectOptions } from '../helpers/mqtt-client.ts'
import { nodesOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { connect } from './mqtt-load.ts'

// Long enough for clients to come back.
const cluster = nodesOfTests(2, { environment: { THINGWIRE_WILL_GRACE: '12000' } })

const willOf = (thing: Thing, clientId: string): ConnectOptions => ({
  clientId,
  will: {
    topic: `things/${thing.thingToken}/write`,
    payload: { values: [{ key: 'will', value: clientId }] },
  },
})

async function willsOf(thing: Thing, node = cluster.node(0)): Promise<unknown[]> {
  const written = await readAll(node, thing, 'will').catch(() => [])
  return written.map(({ value }) => value).toSorted()
}

/** Clients with wills on the node; which of them come back is in their names. */
async function connectAll(node: ServerProcess, thing: Thing): Promise<void> {
  await connect(node, thing, willOf(thing, 'gone'))
  await connect(node, thing, { ...willOf(thing, 'gone, persistent'), clean: false })
  await connect(node, thing, willOf(thing, 'back'))
  await connect(node, thing, willOf(thing, 'back, and left'))
  await connect(node, thing, { ...willOf(thing, 'back, persistent'), clean: false })
  await connect(node, thing, willOf(thing, 'back with another will'))
  const anonymous = { username: '' }
  await connect(node, thing, { ...willOf(thing, 'anonymous, gone'), ...anonymous })
  await connect(node, thing, { ...willOf(thing, 'anonymous, back'), ...anonymous })
}

async function comeBack(node: ServerProcess, thing: Thing): Promise<void> {
  await connect(node, thing, { clientId: 'back' })
  await (await connect(node, thing, { clientId: 'back, and left' })).disconnect()
  await connect(node, thing, { clientId: 'back, persistent', clean: false })
  await connect(node, thing, willOf(thing, 'back with another will'))
  const anonymous = await connect(node, thing, { clientId: 'anonymous, back', username: '' })
  await anonymous.subscribe(`things/${thing.thingToken}/values/+`)
}

const gone = ['anonymous, gone', 'gone', 'gone, persistent']
const back = ['anonymous, back', 'back', 'back with another will', 'back, and left', 'back, persistent']

/** Kills a node. Resolves when it counts as dead at one of the others. */
async function die(node: ServerProcess, ...others: readonly ServerProcess[]): Promise<void> {
  const [, name] = await node.logged(/"the other nodes know this node as ([^\s"]+)/)
  await node.kill()
  const isMissed = new RegExp(`"level":40,.*"node ${name} was silent for 25 s and counts as dead`)
  await Promise.race(others.map(other => other.logged(isMissed)))
}

describe('the wills of clients of a node', () => {
  it('that is killed are written by another one, but for those of clients that come back once it counts as dead', async () => {
    const thing = await createThing(cluster.node(0))
    const doomed = await cluster.add()
    await connectAll(doomed, thing)
    await die(doomed, cluster.node(0), cluster.node(1))
    await comeBack(cluster.node(1), thing)
    expect(await willsOf(thing)).toEqual([])
    await expect.poll(() => willsOf(thing), { timeout: 50_000 }).toEqual(gone)
  })

  it('that is killed are written at once for clients that come back before it counts as dead', async () => {
    const thing = await createThing(cluster.node(0))
    const doomed = await cluster.add()
    await connectAll(doomed, thing)
    await doomed.kill()
    await comeBack(cluster.node(1), thing)
    expect(await willsOf(thing)).toEqual(back)
    await expect.poll(() => willsOf(thing), { timeout: 80_000 }).toEqual([...back, ...gone].toSorted())
  })

  it('that stops wait for their clients on other nodes', async () => {
    const thing = await createThing(cluster.node(0))
    const leaving = await cluster.add()
    await connectAll(leaving, thing)
    expect((await leaving.stop()).code).toBe(0)
    // Well within the grace, of which nothing has passed yet.
    await delay(3_000)
    await comeBack(cluster.node(0), thing)
    expect(await willsOf(thing)).toEqual([])
    await expect.poll(() => willsOf(thing), { timeout: 50_000 }).toEqual(gone)
  })

  it('that stops are not written for clients that connect to another node as soon as they are closed', async () => {
    const thing = await createThing(cluster.node(0))
    const leaving = await cluster.add()
    const ids = Array.from({ length: 200 }, (_, number) => `at once ${number}`)
    const clients = await Promise.all(ids.map(id => connect(leaving, thing, willOf(thing, id))))
    const back = clients.map(async ({ closed }, number) => {
      await closed
      await connect(cluster.node(number % 2), thing, { clientId: `at once ${number}` })
    })
    await leaving.stop()
    await Promise.all(back)
    expect(await willsOf(thing)).toEqual([])
  })

  it('that led the writing of wills are written by the next one, each once', async () => {
    const thing = await createThing(cluster.node(0))
    // The first of all leads until it is killed.
    await connectAll(cluster.node(0), thing)
    await die(cluster.node(0), cluster.node(1))
    await comeBack(cluster.node(1), thing)
    await cluster.add()
    await expect.poll(() => willsOf(thing, cluster.node(1)), { timeout: 50_000 }).toEqual(gone)
  })
})

it('the will of a client that connects on another node is written by the one that it leaves', async () => {
  const thing = await createThing(cluster.node(1))
  const [first, second] = [cluster.node(1), await cluster.add()]
  const before = await connect(first, thing, willOf(thing, 'taken over'))
  const after = await connect(second, thing, { clientId: 'taken over' })
  await before.untilClosed()
  await expect.poll(() => willsOf(thing, second)).toEqual(['taken over'])
  await after.disconnect()
})
