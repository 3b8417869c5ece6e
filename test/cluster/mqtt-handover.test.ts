import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { nodeOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { numbers } from '../mqtt/messages.ts'
import { committed, connect, reading, sentOnce, startWriting, untilSent, valuesSent } from './mqtt-load.ts'
import { openSlowLog } from './slow-log.ts'

const cluster = nodesOfTests(2, { environment: noRateLimits })

const session = { clientId: 'board', clean: false }

async function post(node: ServerProcess, thing: Thing, value: string): Promise<void> {
  expect((await write(node, thing, reading(value))).status).toBe(201)
}

it('a session that is taken over by another node is sent again, with DUP, at most what it has just acknowledged', async () => {
  const thing = await createThing(cluster.node(0))
  let client = await connect(cluster.node(0), thing, session)
  await client.subscribe(`things/${thing.thingId}/values/n`)
  const written: string[] = []
  for (const visit of numbers(5)) {
    const values = numbers(10).map(value => `${visit} ${value}`)
    for (const value of values) await post(cluster.node(visit % 2), thing, value)
    await untilSent(client, `${visit} 9`)
    // The acks were before it.
    await client.ping()
    const sent = valuesSent(client)
    const again = sent.slice(0, -10)
    expect(again).toEqual(written.slice(written.length - again.length).map(value => ({ value, dup: true })))
    expect(sent.slice(-10)).toEqual(values.map(value => ({ value, dup: false })))
    written.push(...values)
    client = await connect(cluster.node((visit + 1) % 2), thing, session)
  }
})

it('a session that goes to a node that is late in reading the commit log is sent everything once, in order', async () => {
  const thing = await createThing(cluster.node(0))
  const slow = await nodeOfTest(
    `redis://127.0.0.1:${await openSlowLog(cluster.redis.port, 150)}`,
    cluster.adminKey,
    { environment: noRateLimits },
  )
  const connections = [await connect(slow, thing, session)]
  await connections[0]?.subscribe(`things/${thing.thingId}/values/n`)
  const stop = startWriting([cluster.node(0)], thing)
  for (const visit of numbers(8)) {
    connections.push(await connect(visit % 2 ? slow : cluster.node(0), thing, session))
    await delay(200)
  }
  await stop()
  const last = await connect(slow, thing, session)
  await post(cluster.node(0), thing, 'last')
  await untilSent(last, 'last')
  expect(sentOnce([...connections, last])).toEqual(await committed(cluster.node(0), thing))
})
