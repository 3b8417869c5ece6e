import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { nodeOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { numbers } from '../mqtt/messages.ts'
import { committed, connect, reading, sentOnce, startWriting, untilSent, valuesSent } from './mqtt-load.ts'

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

/**
 * Opens a way to the Redis at a port of 127.0.0.1 on which a node that follows the commit log hears of it later than
 * others, by so many milliseconds. Closed at the end of the test.
 *
 * @returns its port
 */
async function openSlowLog(target: number, late: number): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connectTcp(target, '127.0.0.1')
    let isLog = false
    near.on('data', bytes => {
      isLog ||= bytes.includes('XREAD')
      far.write(bytes)
    })
    far.on('data', bytes => {
      if (isLog) setTimeout(() => near.write(bytes), late)
      else near.write(bytes)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
