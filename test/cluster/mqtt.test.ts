import { describe, expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { ask, createThing, type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { eventually } from '../mqtt/door-service.ts'
import { messagesOf, nextOn, numbers } from '../mqtt/messages.ts'
import { connect } from './mqtt-load.ts'

const cluster = nodesOfTests(2)

async function documents(prefix: string): Promise<string[]> {
  const client = await openClient(cluster.redis.url)
  const names = await client.hkeys('thingwire:{0}:o')
  client.disconnect()
  return names.filter(name => name.startsWith(prefix))
}

describe('a client that connects on another node with the same client id', () => {
  it.each([
    { clean: true, clientId: 'clean' },
    { clean: false, clientId: 'persistent' },
  ])('takes over: %o', async options => {
    const thing = await createThing(cluster.node(0))
    let client = await connect(cluster.node(0), thing, options)
    for (const visit of numbers(4)) {
      const next = await connect(cluster.node((visit + 1) % 2), thing, options)
      expect(next.connack).toMatchObject({ returnCode: 0, sessionPresent: !options.clean })
      await client.untilClosed()
      await next.ping()
      client = next
    }
    await client.disconnect()
    await eventually(() => documents('mqtt-connections/')).toEqual([])
  })

  it('takes over from a thing with another of its tokens, an operator, a session', async () => {
    const thing = await createThing(cluster.node(0))
    const { thingToken } = await ask(cluster.node(0), 'POST', `/v2/admin/things/${thing.thingId}/tokens`, {})
    const { sessionToken } = await ask(cluster.node(0), 'POST', '/v2/admin/sessions', {
      things: '*',
      access: 'read',
    })
    const credentials = [
      [{ username: thing.thingToken }, { username: String(thingToken) }],
      [
        { username: 'operator', password: cluster.adminKey },
        { username: 'operator', password: cluster.adminKey },
      ],
      [
        { username: 'a', password: String(sessionToken) },
        { username: 'b', password: String(sessionToken) },
      ],
    ] as const
    const clientId = 'the same'
    const opened = await Promise.all(
      credentials.map(([first]) => connectMqtt({ url: cluster.node(0).mqttUrl, clientId, ...first })),
    )
    onTestFinished(async () => void (await Promise.all(opened.map(client => client.destroy()))))
    for (const [index, [, second]] of credentials.entries()) {
      await mqttOfTest({ url: cluster.node(1).mqttUrl, clientId, ...second })
      await opened[index]?.untilClosed()
      for (const other of opened.slice(index + 1)) await other.ping()
    }
  })

  it('leaves other things and connections without a credential alone', async () => {
    const [thing, other] = [await createThing(cluster.node(0)), await createThing(cluster.node(0))]
    const clientId = 'board'
    const first = await connect(cluster.node(0), thing, { clientId })
    const anonymous = await mqttOfTest({ url: cluster.node(0).mqttUrl, clientId })
    await (await connect(cluster.node(1), other, { clientId })).disconnect()
    const otherAnonymous = await connectMqtt({ url: cluster.node(1).mqttUrl, clientId })
    await otherAnonymous.disconnect()
    await first.ping()
    await anonymous.ping()
  })

  it('takes over without a credential, too, once it has used a token of the same thing', async () => {
    const [thing, other] = [await createThing(cluster.node(0)), await createThing(cluster.node(0))]
    const subscribe = async (node: number, { thingToken }: Thing, clientId: string) => {
      const client = await mqttOfTest({ url: cluster.node(node).mqttUrl, clientId })
      await client.subscribe(`things/${thingToken}/values/n`)
      return client
    }
    const others = [
      await subscribe(0, other, 'anonymous'),
      await subscribe(0, thing, 'other'),
      await subscribe(0, thing, ''),
      await subscribe(1, thing, ''),
    ]
    let client = await subscribe(0, thing, 'anonymous')
    for (const visit of numbers(3)) {
      const next = await subscribe((visit + 1) % 2, thing, 'anonymous')
      await client.untilClosed()
      await next.ping()
      client = next
    }
    for (const one of others) await one.ping()
    for (const one of [client, ...others]) await one.disconnect()
    await eventually(() => documents('mqtt-connections/')).toEqual([])
  })

  it('and clean=true ends the session that the other node has', async () => {
    const thing = await createThing(cluster.node(0))
    const board = { clientId: 'to be forgotten', clean: false }
    const first = await connect(cluster.node(0), thing, board)
    await first.subscribe(`things/${thing.thingId}/values/+`)
    const clean = await connect(cluster.node(1), thing, { ...board, clean: true })
    expect(clean.connack).toMatchObject({ returnCode: 0, sessionPresent: false })
    await first.untilClosed()
    await clean.disconnect()
    for (const node of cluster.nodes) {
      const client = await connect(node, thing, { clientId: 'to be forgotten', clean: false })
      expect(client.connack.sessionPresent).toBe(node !== cluster.node(0))
      await client.disconnect()
    }
  })
})

describe('the session of a credential that is revoked on another node', () => {
  it.each(['connected', 'away'])('is ended, its client %s', async where => {
    const thing = await createThing(cluster.node(0))
    const { sessionId, sessionToken } = await ask(cluster.node(0), 'POST', '/v2/admin/sessions', {
      things: [thing.thingId],
      access: 'read',
    })
    const client = await connectMqtt({
      url: cluster.node(1).mqttUrl,
      username: 'dashboard',
      password: String(sessionToken),
      clientId: 'dashboard',
      clean: false,
    })
    await client.subscribe(`things/${thing.thingId}/values/+`)
    const left = () => documents(`mqtt-sessions/session.${sessionId}`)
    if (where === 'away') await client.disconnect()
    expect(await documents('mqtt-sessions/')).toContainEqual(expect.stringContaining(String(sessionId)))
    await ask(cluster.node(0), 'DELETE', `/v2/admin/sessions/${sessionId}`)
    await client.untilClosed()
    await eventually(left).toEqual([])
  })
})

it('a write that is refused on one node is told on the errors topic on both', async () => {
  const thing = await createThing(cluster.node(0))
  const listeners = await Promise.all(cluster.nodes.map(node => connect(node, thing)))
  for (const listener of listeners) await listener.subscribe(`things/${thing.thingId}/errors`)
  for (const [index, node] of cluster.nodes.entries()) {
    expect((await write(node, thing, { values: [] })).status).toBe(400)
    for (const listener of listeners) {
      const { payload } = await nextOn(listener, '/errors')
      expect(JSON.parse(payload)).toMatchObject({ door: 'http', reason: 'invalid_values' })
      expect(messagesOf(listener, '/errors')).toHaveLength(index + 1)
    }
  }
})
