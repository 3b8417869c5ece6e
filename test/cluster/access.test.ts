import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type RunningNodes, startNodes } from '../helpers/cluster.ts'
import { ask, createThing, type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { StreamClient } from '../http/stream-client.ts'

let cluster: RunningNodes
/** Where what is tested is done, and where it must take effect. */
let here: ServerProcess
let there: ServerProcess
beforeAll(async () => {
  cluster = await startNodes(2)
  here = cluster.node(0)
  there = cluster.node(1)
})
afterAll(() => cluster.end())

/** A connection and two streams on a node, each with this credential; they say whether they still work. */
async function relyOn(node: ServerProcess, credential: string, { thingId }: Thing) {
  const mqtt = await connectMqtt({ url: node.mqttUrl, username: 'any', password: credential })
  expect(mqtt.connack.returnCode).toBe(0)
  expect(await mqtt.subscribe(`things/${thingId}/values/+`)).toBe(1)
  const authorization = `Bearer ${credential}`
  const url = `${node.url}/v2/things/${thingId}`
  const chunked = await StreamClient.open(url, { authorization })
  const events = await StreamClient.open(url, { authorization, accept: 'text/event-stream' })
  onTestFinished(async () => {
    await Promise.all([mqtt, chunked, events].map(client => client.destroy()))
  })
  for (const stream of [chunked, events]) expect(await stream.head()).toContain(' 200 ')
  return {
    /** Resolves when all three were closed by the node. */
    closed: () => Promise.all([mqtt.untilClosed(), chunked.closed, events.closed]),
    /** Resolves when a record of the thing has come. */
    received: async () => {
      await mqtt.next(packet => packet.cmd === 'publish' && packet.retain !== true)
      while (!(await chunked.next()).includes('temperature')) {}
    },
  }
}

const temperature = { values: [{ key: 'temperature', value: 21.5 }] }

describe('what is revoked on one node', () => {
  it('a thing token: closes connections and streams on the other, which refuses it; rotation disturbs nobody else', async () => {
    const thing = await createThing(here)
    const tokens = `/v2/admin/things/${thing.thingId}/tokens`
    const [old] = (await ask(here, 'GET', tokens)).tokens as [{ tokenId: string }]
    const { thingToken } = (await ask(here, 'POST', tokens, {})) as { thingToken: string }
    const [outdated, rotated] = [
      await relyOn(there, thing.thingToken, thing),
      await relyOn(there, thingToken, thing),
    ]
    await ask(here, 'DELETE', `${tokens}/${old.tokenId}`)
    await outdated.closed()
    for (const node of cluster.nodes) expect((await write(node, thing, temperature)).status).toBe(401)
    expect((await write(here, { ...thing, thingToken }, temperature)).status).toBe(201)
    await rotated.received()
  })

  it('a session: closes what was opened with it on the other, which refuses it', async () => {
    const thing = await createThing(here)
    const session = await mint(here, { things: '*', access: 'write' })
    const opened = await relyOn(there, session.sessionToken, thing)
    await ask(here, 'DELETE', `/v2/admin/sessions/${session.sessionId}`)
    await opened.closed()
    expect((await read(there, thing, session.sessionToken)).status).toBe(401)
  })

  it('a session that a thing token has minted, with that token', async () => {
    const thing = await createThing(here)
    const minted = await fetch(`${there.url}/v2/things/${thing.thingToken}/sessions`, {
      method: 'POST',
      body: JSON.stringify({ access: 'read' }),
    })
    const { sessionToken } = (await minted.json()) as { sessionToken: string }
    const opened = await relyOn(there, sessionToken, thing)
    const tokens = `/v2/admin/things/${thing.thingId}/tokens`
    const [{ tokenId }] = (await ask(here, 'GET', tokens)).tokens as [{ tokenId: string }]
    await ask(here, 'DELETE', `${tokens}/${tokenId}`)
    await opened.closed()
    expect((await read(there, thing, sessionToken)).status).toBe(401)
  })

  it('a thing: closes its connections, and the streams that others have of it, on the other', async () => {
    const [thing, kept] = [await createThing(here), await createThing(here)]
    const session = await mint(here, { things: '*', access: 'read' })
    const own = await relyOn(there, thing.thingToken, thing)
    const others = await StreamClient.open(`${there.url}/v2/things/${thing.thingId}`, {
      authorization: session.sessionToken,
    })
    await others.next()
    const unharmed = await relyOn(there, session.sessionToken, kept)
    await ask(here, 'DELETE', `/v2/admin/things/${thing.thingId}`)
    await own.closed()
    expect(await others.closed).toBe('cut')
    expect((await read(there, thing, session.sessionToken)).status).toBe(404)
    expect((await write(there, thing, temperature)).status).toBe(401)
    expect((await write(here, kept, temperature)).status).toBe(201)
    await unharmed.received()
  })
})

describe('a session that expires', () => {
  it('ends on every node, whichever has minted it', async () => {
    const thing = await createThing(here)
    const session = await mint(here, { things: [thing.thingId], access: 'read', expiresIn: 8 })
    const opened = await Promise.all(cluster.nodes.map(node => relyOn(node, session.sessionToken, thing)))
    await Promise.all(opened.map(({ closed }) => closed()))
    for (const node of cluster.nodes) {
      expect((await read(node, thing, session.sessionToken)).status).toBe(401)
    }
  })
})

describe('what one node makes', () => {
  it('is known at the other before the answer is', async () => {
    for (let round = 0; round < 20; round++) {
      const thing = await createThing(here)
      expect((await write(there, thing, temperature)).status).toBe(201)
      const { sessionToken } = await mint(there, { things: [thing.thingId], access: 'read' })
      expect((await read(here, thing, sessionToken)).status).toBe(200)
    }
  })

  it('is listed by the other with when it was last seen, at the latest when the first has flushed it', async () => {
    const thing = await createThing(here)
    const third = await cluster.add()
    const before = Date.now()
    expect((await write(third, thing, temperature)).status).toBe(201)
    await third.stop()
    const { things } = (await ask(there, 'GET', '/v2/admin/things?limit=1000')) as {
      things: { thingId: string; lastSeen?: string }[]
    }
    const { lastSeen = '' } = things.find(({ thingId }) => thingId === thing.thingId) ?? {}
    expect(Date.parse(lastSeen)).toBeGreaterThanOrEqual(before)
  })
})

describe('live messages of a thing', () => {
  it('reach a session of it that was minted on the other node', async () => {
    const thing = await createThing(here)
    const { sessionToken } = await mint(here, { things: [thing.thingId], access: 'read' })
    const client = await connectMqtt({ url: there.mqttUrl, password: sessionToken, username: 'any' })
    await client.subscribe('things/+/values/+')
    expect((await write(here, thing, temperature)).status).toBe(201)
    await client.next(isMessageOn(`things/${thing.thingId}/values/temperature`))
    await client.disconnect()
  })
})

async function mint(node: ServerProcess, body: object) {
  return (await ask(node, 'POST', '/v2/admin/sessions', body)) as { sessionToken: string; sessionId: string }
}

function read(node: ServerProcess, { thingId }: Thing, authorization: string): Promise<Response> {
  return fetch(`${node.url}/v2/things/${thingId}/resources`, { headers: { authorization } })
}
