import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService, eventually } from '../door-service.ts'

const topics = ['house/#']
const grants: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

async function absent(service: DoorService, count: number, qos: 1 | 2 = 1) {
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, grants)
  const sessions = Array.from({ length: count }, (_, n) => ({ clientId: `away-${n}`, clean: false }))
  for (const session of sessions) {
    const client = await service.connectThing(thing, session)
    await client.subscribe('house/#', qos)
    await client.disconnect()
  }
  return { thing, sessions }
}

describe('a message that many sessions are owed', () => {
  it('is stored once, with an entry for each, and leaves the store when each has it', async () => {
    const service = await DoorService.start({ topics })
    const { thing, sessions } = await absent(service, 20)
    const publisher = await service.connectTopics(grants)
    await publisher.publish('house/a', 'once')
    expect(await service.documents('topic-message/')).toHaveLength(1)
    expect(await service.documents('topic-queue/')).toHaveLength(20)
    for (const session of sessions) {
      const client = await service.connectThing(thing, session)
      await client.next(isMessageOn('house/a'))
      await client.disconnect()
    }
    await eventually(() => service.documents('topic-queue/')).toEqual([])
    await service.things.registry.remove(thing.thingId)
    await eventually(() => service.documents('topic-message/')).toEqual([])
  })

  it('stays whole for the others when one has acknowledged it, over a restart, at QoS 2 too', async () => {
    const dataDir = await temporaryDirectory()
    const first = await DoorService.start({ topics, dataDir, adminKey: 'k'.repeat(32) })
    const { thing, sessions } = await absent(first, 3, 2)
    const publisher = await first.connectTopics(grants)
    for (let n = 0; n < 5; n++) await publisher.publish('house/a', `${n}`, { qos: 2 })
    const [one, ...others] = sessions
    const early = await first.connectThing(thing, one)
    for (let n = 0; n < 5; n++) await early.next(isOf('pubrel'))
    await early.disconnect()
    await first.stop()
    const second = await DoorService.start({ topics, dataDir, adminKey: 'k'.repeat(32) })
    for (const session of others) {
      const client = await second.connectThing(thing, session)
      for (let n = 0; n < 5; n++) await client.next(isOf('pubrel'))
      const seen = client.received.filter(isOf('publish')).map(({ payload }) => String(payload))
      expect(seen).toEqual(['0', '1', '2', '3', '4'])
    }
    const again = await second.connectThing(thing, one)
    await (await second.connectTopics(grants)).publish('house/a', 'end', { qos: 2 })
    await again.next(packet => packet.cmd === 'publish' && String(packet.payload) === 'end')
    expect(again.received.filter(isOf('publish'))).toHaveLength(1)
  })
})

describe('the bounds of what a session is owed', () => {
  it('count topics, and leave nine tenths of what fits', async () => {
    const service = await DoorService.start({ topics, limits: { writesPerSecond: 1_000_000 } })
    await absent(service, 1)
    const publisher = await service.connectTopics(grants)
    const topic = (n: number) => `house/${n}/${'x'.repeat(60_000)}`
    const fitting = Math.floor((16 * 1024 * 1024) / 60_010)
    for (let n = 0; n < 2 * fitting; n++) await publisher.publish(topic(n), 'y')
    await eventually(async () => {
      const names = (await service.documents('topic-queue/')).map(each => String(each))
      return names.length <= fitting && names.length >= 0.9 * fitting
    }).toBe(true)
  })

  it('drop the oldest of 10,000 messages', async () => {
    const service = await DoorService.start({ topics, limits: { writesPerSecond: 1_000_000 } })
    const { thing, sessions } = await absent(service, 1)
    const publisher = await service.connectTopics(grants)
    const sending: Promise<unknown>[] = []
    for (let n = 0; n < 10_001; n++) sending.push(publisher.publish('house/n', `${n}`))
    await Promise.all(sending)
    await eventually(async () => (await service.documents('topic-queue/')).length).toBe(9_500)
    const client = await service.connectThing(thing, sessions[0])
    await client.next(packet => packet.cmd === 'publish' && String(packet.payload) === '10000')
    const numbers = client.received.filter(isOf('publish')).map(({ payload }) => Number(payload))
    expect(numbers).toEqual(Array.from({ length: 9_500 }, (_, n) => 501 + n))
  })
})

it('a client that acknowledges nothing is closed at twice what is kept for one that is away', async () => {
  const service = await DoorService.start({ topics, limits: { writesPerSecond: 1_000_000 } })
  const thing = await service.createThing()
  await service.things.registry.setTopics(thing.thingId, grants)
  const silent = await service.connectThing(thing, { clientId: 'silent', clean: false })
  await silent.subscribe('house/#', 1)
  silent.acknowledges = false
  const publisher = await service.connectTopics(grants)
  const payload = Buffer.alloc(1_000_000, 'x')
  for (let n = 0; n < 40; n++) await publisher.publish('house/a', payload)
  await silent.untilClosed()
  expect(silent.received.filter(isOf('publish')).length).toBeGreaterThan(30)
  await eventually(async () => JSON.stringify(await service.things.refused.list(thing.thingId, 10))).toMatch(
    /it acknowledges nothing/,
  )
})

it('a principal has a thousand persistent sessions, and one more is refused with a reason', async () => {
  const service = await DoorService.start({ topics })
  const thing = await service.createThing()
  const document = {
    lastConnected: Date.now(),
    subscriptions: [],
    acked: { writeNumber: 0, place: 0 },
    sent: [],
  }
  const name = (n: number) => `mqtt-sessions/${encodeURIComponent(`thing.${thing.thingId}:away-${n}`)}`
  const many = Array.from({ length: 1_000 }, (_, n) => [name(n), { ...document, isInUse: false, node: 'x' }])
  await service.things.documents.put(Object.fromEntries(many), 'keep')
  const returnCodeOf = async (clientId: string, clean: boolean) => {
    const client = await service.connectThing(thing, { clientId, clean })
    return client.connack.returnCode
  }
  expect(await returnCodeOf('one more', false)).toBe(5)
  await eventually(async () => (await service.things.refused.list(thing.thingId, 1))[0]?.message).toMatch(
    /1,000 persistent MQTT sessions/,
  )
  expect(await returnCodeOf('away-1', false)).toBe(0)
  expect(await returnCodeOf('away-2', true)).toBe(0)
  expect(await returnCodeOf('one more', false)).toBe(0)
})
