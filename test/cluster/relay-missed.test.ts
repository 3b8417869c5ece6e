import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { ask, type Session } from '../helpers/http-client.ts'
import { isMessageOn, isOf } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { everything } from '../mqtt/relay/house.ts'

const cluster = nodesOfTests(2, { environment: { THINGWIRE_TOPICS: 'house/#' } })

/** Nodes tell one another nothing, as where a node is killed between the commit of a message and that. */
async function mute(isMute: boolean): Promise<void> {
  const redis = new Redis(cluster.redis.url)
  onTestFinished(() => redis.disconnect())
  await redis.acl('SETUSER', 'default', isMute ? '-publish' : '+publish')
}

it('a message of which another node was not told comes to a persistent session that is connected there', async () => {
  const body = { things: [], access: 'read', topics: everything }
  const { sessionToken: password } = await ask<Session>(cluster.node(0), 'POST', '/v2/admin/sessions', body)
  const connect = (node: number, clientId: string, clean: boolean) =>
    mqttOfTest({ url: cluster.node(node).mqttUrl, username: 'x', password, clientId, clean })
  const publisher = await connect(0, 'publisher', true)
  const subscriber = await connect(1, 'subscriber', false)
  expect(await subscriber.subscribe('house/+', 2)).toBe(2)
  await publisher.publish('house/a', 'told', { qos: 2 })
  await subscriber.next(isOf('pubrel'))
  await mute(true)
  await publisher.publish('house/a', 'untold', { qos: 2 })
  await mute(false)
  // It is closed, to find what it is owed.
  await subscriber.untilClosed()
  const again = await connect(1, 'subscriber', false)
  await again.next(isMessageOn('house/a'))
  const neighbour = await connect(1, 'neighbour', true)
  await neighbour.publish('house/a', 'end', { qos: 2 })
  await again.next(packet => packet.cmd === 'publish' && String(packet.payload) === 'end')
  const heard = [subscriber, again].map(({ received }) =>
    received.filter(isOf('publish')).map(({ payload }) => String(payload)),
  )
  expect(heard).toEqual([['told'], ['untold', 'end']])
})
