import { describe, expect, it } from 'vitest'
import type { Client } from '../../../../src/store/redis/script.ts'
import { isMessageOn, type MqttClient } from '../../../helpers/mqtt-client.ts'
import { redisClientOfTest } from '../../../helpers/redis-of-test.ts'
import { messagesOf } from '../../messages.ts'
import { connectUser, plantOfTest, twoNodesOfTests } from './plant.ts'

/** What users of a host have of a broker on Redis, from node to node: the topics of the host, of which Thingwire keeps nothing. */

const plant = twoNodesOfTests()

/** How many messages are kept for a session. What is listed and is not there any more, Aedes strikes at the next CONNECT. */
async function unacknowledged(redis: Client, clientId: string): Promise<number> {
  const listed = await redis.lrange(`outgoing:${encodeURIComponent(clientId)}`, 0, -1)
  return listed.length === 0 ? 0 : await redis.exists(...listed)
}

/** Awaits that a node keeps for this session, which is away, what is published on the topic: Aedes tells other nodes of a SUBSCRIBE behind its SUBACK. */
async function untilKnown(redis: Client, place: number, clientId: string, topic: string): Promise<void> {
  const controller = await connectUser(plant.node(place), 'controller')
  const keepsOne = async () => {
    await controller.publish(topic, isItKnown, { qos: 2 })
    return await unacknowledged(redis, clientId)
  }
  await expect.poll(keepsOne).toBeGreaterThan(0)
}

const isItKnown = 'is it known?'

function payloadsOf(client: MqttClient, topic: string): readonly string[] {
  return messagesOf(client)
    .filter(message => message.topic === topic)
    .map(({ payload }) => payload)
}

describe('a message of the host', () => {
  it.each([0, 1, 2] as const)('at QoS %i comes once to every node', async qos => {
    const topic = `plant/press/${qos}`
    const panels = [await connectUser(plant.node(0), 'panel'), await connectUser(plant.node(1), 'panel')]
    for (const panel of panels) expect(await panel.subscribe(topic, 2)).toBe(2)
    const controllers = [
      await connectUser(plant.node(0), 'controller'),
      await connectUser(plant.node(1), 'controller'),
    ]
    for (const [place, controller] of controllers.entries()) {
      await controller.publish(topic, `from ${place}`, { qos })
      for (const panel of panels) {
        expect(await panel.next(isMessageOn(topic))).toMatchObject({ qos, retain: false, dup: false })
      }
    }
    for (const panel of panels) {
      await panel.ping()
      expect(payloadsOf(panel, topic)).toEqual(['from 0', 'from 1'])
    }
  })

  it('at QoS 2 takes effect once, sent again to the other node by a client with a session', async () => {
    const topic = 'plant/saw/cut'
    const panel = await connectUser(plant.node(0), 'panel')
    await panel.subscribe(topic, 2)
    const session = { clientId: 'cutter', clean: false }
    const first = await connectUser(plant.node(0), 'controller', session)
    const messageId = await first.publishUntilPubrec(topic, 'once', { messageId: 7 })
    await first.destroy()
    const second = await connectUser(plant.node(1), 'controller', session)
    await second.publish(topic, 'once', { qos: 2, dup: true, messageId })
    await second.publish(topic, 'then another', { qos: 2, messageId })
    for (const payload of ['once', 'then another']) {
      expect((await panel.next(isMessageOn(topic))).payload.toString()).toBe(payload)
    }
  })

  it('is retained for every node, until it is taken away at another', async () => {
    const topic = 'plant/oven/limit'
    const controllers = [
      await connectUser(plant.node(0), 'controller'),
      await connectUser(plant.node(1), 'controller'),
    ]
    await controllers[0]?.publish(topic, '240', { qos: 2, retain: true })
    for (const filter of [topic, 'plant/oven/#']) {
      const panel = await connectUser(plant.node(1), 'panel')
      await panel.subscribe(filter)
      expect(await panel.next(isMessageOn(topic))).toMatchObject({ retain: true })
    }
    await plant.restart('stop')
    const panel = await connectUser(plant.node(0), 'panel')
    await panel.subscribe(topic)
    expect((await panel.next(isMessageOn(topic))).payload.toString()).toBe('240')
    const controller = await connectUser(plant.node(1), 'controller')
    await controller.publish(topic, '', { qos: 2, retain: true })
    const later = await connectUser(plant.node(0), 'panel')
    await later.subscribe(topic)
    await later.ping()
    expect(messagesOf(later)).toEqual([])
  })

  it('is not lost to one that needs less time, whatever is to be kept of it', async () => {
    const away = await connectUser(plant.node(0), 'panel', { clientId: 'away', clean: false })
    await away.subscribe('plant/kept/+')
    await away.disconnect()
    const panels = [await connectUser(plant.node(0), 'panel'), await connectUser(plant.node(1), 'panel')]
    for (const panel of panels) await panel.subscribe('plant/#', 2)
    const controller = await connectUser(plant.node(0), 'controller')
    const topics = ['plant/kept/1', 'plant/gone/1', 'plant/kept/2', 'plant/gone/2']
    const sent = Array.from({ length: 100 }, (_, round) =>
      topics.map((topic, place) => ({
        topic,
        payload: `${round}`,
        qos: ([1, 0, 2, 1] as const)[place] ?? 0,
        retain: place === 2,
      })),
    ).flat()
    await Promise.all(
      sent.map(({ topic, payload, ...options }) => controller.publish(topic, payload, options)),
    )
    for (const panel of panels) {
      while (messagesOf(panel).length < sent.length) await panel.next(({ cmd }) => cmd === 'publish')
      const seen = (topic: string) => payloadsOf(panel, topic)
      for (const topic of topics) {
        expect(seen(topic)).toEqual(sent.filter(each => each.topic === topic).map(({ payload }) => payload))
      }
    }
  })
})

describe('the rules of the host', () => {
  it.each([0, 1])('refuse at node %i', async place => {
    const stranger = await connectUser(plant.node(place), 'panel', { password: 'guessed' })
    expect(stranger.connack.returnCode).toBe(5)
    const panel = await connectUser(plant.node(place), 'panel')
    expect(await panel.subscribeAll(['plant/#', 'office/#'])).toEqual([1, 128])
    await expect(panel.publish('plant/press/state', 'on', { qos: 2 })).rejects.toThrow()
  })
})

describe('a session of a user', () => {
  it('has the filters that were granted, and no other, in one SUBSCRIBE of several', async () => {
    const session = { clientId: 'reader', clean: false }
    const panel = await connectUser(plant.node(0), 'panel', session)
    const filters = ['plant/a', 'office/#', 'plant/b', 'plant/a']
    expect(await panel.subscribeAll(filters)).toEqual([1, 128, 1, 1])
    await panel.disconnect()
    const redis = await redisClientOfTest(plant.redis.url)
    expect((await redis.hkeys('client:reader')).toSorted()).toEqual(['plant/a', 'plant/b'])
  })

  it.each([
    ['goes to another node', async () => {}],
    ['finds both nodes started again', () => plant.restart('stop')],
    ['finds both nodes killed and started again', () => plant.restart('kill')],
  ])('gets what it missed, in order and once, if it %s', async (_case, meanwhile) => {
    const topic = `plant/missed/${_case}`
    const session = { clientId: `away: ${_case}`, clean: false }
    const panel = await connectUser(plant.node(0), 'panel', session)
    await panel.subscribe(topic, 2)
    await panel.disconnect()
    const redis = await redisClientOfTest(plant.redis.url)
    await untilKnown(redis, 1, session.clientId, topic)
    const publish = async (place: number, payload: string) => {
      const controller = await connectUser(plant.node(place), 'controller')
      // One with QoS 1 is acknowledged by Aedes before it is kept, the next one with QoS 2 after.
      await controller.publish(topic, `${payload} at 1`, { qos: 1 })
      await controller.publish(topic, `${payload} at 2`, { qos: 2 })
    }
    await publish(0, 'before')
    await publish(1, 'before')
    await meanwhile()
    await publish(0, 'behind')
    const again = await connectUser(plant.node(1), 'panel', session)
    expect(again.connack.sessionPresent).toBe(true)
    const missed = ['before', 'before', 'behind'].flatMap(text => [1, 2].map(qos => `${text} at ${qos}`))
    const nextMissed = async () => {
      let payload = isItKnown
      while (payload === isItKnown) payload = (await again.next(isMessageOn(topic))).payload.toString()
      return payload
    }
    for (const payload of missed) expect(await nextMissed()).toBe(payload)
    await expect.poll(() => unacknowledged(redis, session.clientId)).toBe(0)
    await again.disconnect()
    const last = await connectUser(plant.node(0), 'panel', session)
    await last.ping()
    expect(messagesOf(last)).toEqual([])
    await publish(1, 'live')
    expect((await last.next(isMessageOn(topic))).payload.toString()).toBe('live at 1')
  })

  it('goes from node to node with its client, whose connection before is closed', async () => {
    const session = { clientId: 'walker', clean: false }
    let panel = await connectUser(plant.node(0), 'panel', session)
    await panel.subscribe('plant/walk')
    const controller = await connectUser(plant.node(0), 'controller')
    const redis = await redisClientOfTest(plant.redis.url)
    for (const visit of [1, 2, 3, 4]) {
      const next = await connectUser(plant.node(visit % 2), 'panel', session)
      await panel.untilClosed()
      await controller.publish('plant/walk', `${visit}`)
      expect((await next.next(isMessageOn('plant/walk'))).payload.toString()).toBe(`${visit}`)
      // What is not acknowledged when the client moves on comes again.
      await expect.poll(() => unacknowledged(redis, session.clientId)).toBe(0)
      panel = next
    }
  })
})

describe('the will of a user', () => {
  const will = (payload: string) => ({ topic: 'plant/gone', payload, qos: 1 }) as const

  it('is told at every node if its connection is lost, and not if it takes its leave', async () => {
    const panels = [await connectUser(plant.node(0), 'panel'), await connectUser(plant.node(1), 'panel')]
    for (const panel of panels) await panel.subscribe('plant/gone')
    await (await connectUser(plant.node(0), 'controller', { will: will('has left') })).takeLeave()
    await (await connectUser(plant.node(0), 'controller', { will: will('is lost') })).destroy()
    for (const panel of panels) {
      expect((await panel.next(isMessageOn('plant/gone'))).payload.toString()).toBe('is lost')
    }
  })

  it('is told by another node if that of its connection is killed', async () => {
    const nodes = [0, 1].map(() => plantOfTest(plant.redis.url, { heartbeat: 250 }))
    const [alive, dying] = (await Promise.all(nodes)) as [
      Awaited<(typeof nodes)[0]>,
      Awaited<(typeof nodes)[0]>,
    ]
    const panel = await connectUser(alive, 'panel')
    await panel.subscribe('plant/gone')
    await connectUser(dying, 'controller', { will: will('died') })
    await dying.kill()
    expect((await panel.next(isMessageOn('plant/gone'))).payload.toString()).toBe('died')
  })
})
