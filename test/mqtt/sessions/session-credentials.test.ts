import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { DoorService, eventually, reading, topicsReceived, writeTopicOf } from '../door-service.ts'
import { messagesOf, passed, valueIn, valuesOf, writeAll } from '../messages.ts'

const no = 128

/** I: a thing of the session of some; J: another. Each: reader of all, writer of all, reader of some, writer of some. */
const filters: readonly [filter: string, ...granted: [number, number, number, number]][] = [
  ['things/I/values/+', 1, 1, 1, 1],
  ['things/I/#', 1, 1, 1, 1],
  ['things/I/+', 1, 1, 1, 1],
  ['things/I/date', 1, 1, 1, 1],
  ['things/I/errors', no, 1, no, 1],
  ['things/I/errors/#', no, 1, no, 1],
  ['v2/things/I', 1, 1, 1, 1],
  ['things/J/values/+', 1, 1, no, no],
  ['things/J/#', 1, 1, no, no],
  ['things/J/errors', no, 1, no, no],
  ['v2/things/J', 1, 1, no, no],
  ['things/+/values/n', 1, 1, 1, 1],
  ['things/+/#', 1, 1, 1, 1],
  ['things/+/errors', no, 1, no, 1],
  ['v2/things/+', 1, 1, 1, 1],
  ['v2/things/+/#', 1, 1, 1, 1],
  ['#', no, no, no, no],
  ['things/#', no, no, no, no],
  ['+/+/values/n', no, no, no, no],
  ['$SYS/#', no, no, no, no],
  ['$share/a/things/+/values/n', no, no, no, no],
  ['things/S/values/n', no, no, no, no],
]

async function start() {
  const service = await DoorService.start()
  return { service, a: await service.createThing(), b: await service.createThing() }
}

describe('a session', () => {
  it.each(['*', 'some'] as const)('is granted what contract §7 says: of things %s', async which => {
    const { service, a, b } = await start()
    const things = which === '*' ? which : [a]
    for (const access of ['read', 'write'] as const) {
      const client = await service.connectSession(things, access)
      const ids = which === '*' ? which : [a.thingId]
      const { sessionToken } = await service.things.sessions.create(ids, { access })
      const place = (which === '*' ? 1 : 3) + (access === 'read' ? 0 : 1)
      const spelled = filters.map(([filter]) =>
        filter
          .replace('/I', `/${a.thingId}`)
          .replace('/J', `/${b.thingId}`)
          .replace('/S', `/${sessionToken}`),
      )
      expect(await client.subscribeAll(spelled)).toEqual(filters.map(row => row[place]))
    }
  })

  it('of some things gets only theirs through a +, live and retained', async () => {
    const { service, a, b } = await start()
    await writeAll(service, a, 1)
    await writeAll(service, b, 2)
    const client = await service.connectSession([a], 'read')
    const all = await service.connectSession('*', 'read')
    for (const reader of [client, all]) await reader.subscribeAll(['things/+/values/+', 'v2/things/+'])
    await writeAll(service, a, 3)
    await writeAll(service, b, 4)
    await passed(service, b, all)
    await passed(service, a, client)
    expect(valuesOf(client, 'n')).toEqual([1, 3])
    expect(new Set(valuesOf(all, 'n'))).toEqual(new Set([1, 2, 3, 4]))
    expect(topicsReceived(client).filter(topic => !topic.includes(a.thingId))).toEqual([])
  })

  it('of some things gets only theirs of what it missed, also after a restart', async () => {
    const { service, a, b } = await start()
    const { sessionToken } = await service.things.sessions.create([a.thingId], { access: 'read' })
    const options = { username: 'dashboard', password: sessionToken, clientId: 'wall', clean: false }
    const first = await service.connect(options)
    await first.subscribeAll(['things/+/values/+', 'v2/things/+'])
    await first.disconnect()
    await writeAll(service, a, 1)
    await writeAll(service, b, 2)
    const restarted = await service.restart()
    await writeAll(restarted, b, 3)
    await writeAll(restarted, a, 4)
    const second = await restarted.connect(options)
    expect(second.connack.sessionPresent).toBe(true)
    await passed(restarted, a, second)
    // It may have left before it had the retained messages, and be shown the present again.
    const missed = messagesOf(second, '/values/n').filter(({ retain }) => !retain)
    expect(missed.map(({ payload }) => valueIn(payload))).toEqual([1, 4])
    expect(topicsReceived(second).filter(topic => !topic.includes(a.thingId))).toEqual([])
  })

  it('that reads is not told of refused writes through a wildcard, one that writes is', async () => {
    const { service, a } = await start()
    const reader = await service.connectSession([a], 'read')
    const writer = await service.connectSession([a], 'write')
    for (const client of [reader, writer]) await client.subscribeAll([`things/${a.thingId}/#`, 'things/+/#'])
    await service.refuse(a)
    await passed(service, a, writer)
    await passed(service, a, reader)
    expect(messagesOf(writer, '/errors')).toHaveLength(1)
    expect(messagesOf(reader, '/errors')).toEqual([])
  })

  it('may do no more by spelling a thing as a token that it knows', async () => {
    const { service, a, b } = await start()
    const reader = await service.connectSession([a], 'read')
    const ofToken = (thing: Thing, rest: string) => `things/${thing.thingToken}/${rest}`
    const filters = [ofToken(a, 'values/n'), ofToken(a, 'errors'), ofToken(b, 'values/n')]
    expect(await reader.subscribeAll(filters)).toEqual([1, no, no])
  })

  it('that reads has nothing kept of what it publishes, nor is that on a list', async () => {
    const { service, a } = await start()
    for (const qos of [0, 1, 2] as const) {
      const reader = await service.connectSession('*', 'read')
      await reader.publish(writeTopicOf(a.thingId), reading(1), { qos })
      await reader.ping()
    }
    expect(await service.values(a, 'n')).toEqual([])
    expect(await service.things.refused.list(a.thingId, 10)).toEqual([])
  })

  it('that writes publishes on the ids of its things, and on no others', async () => {
    const { service, a, b } = await start()
    const writer = await service.connectSession([a], 'write')
    await writer.publish(writeTopicOf(a.thingId), reading(1))
    expect(await service.values(a, 'n')).toEqual([1])
    await writer.publish(writeTopicOf(b.thingId), reading(2))
    expect(await service.values(b, 'n')).toEqual([])
    expect(await service.things.refused.list(b.thingId, 10)).toEqual([])
    expect(await service.things.refused.list(a.thingId, 10)).toMatchObject([{ reason: 'not_a_write_topic' }])
  })

  it('may have a will on a thing that it may write to', async () => {
    const { service, a, b } = await start()
    const willOn = (thingId: string) => ({ topic: writeTopicOf(thingId), payload: reading('gone') })
    const reader = await service.connectSession('*', 'read', { will: willOn(a.thingId) })
    const stranger = await service.connectSession([a], 'write', { will: willOn(b.thingId) })
    for (const { connack } of [reader, stranger]) expect(connack.returnCode).toBe(5)
    const writer = await service.connectSession([a], 'write', { will: willOn(a.thingId) })
    await writer.destroy()
    await eventually(() => service.values(a, 'n')).toEqual(['gone'])
  })

  it('has client ids of its own', async () => {
    const { service, a } = await start()
    const first = await service.connectSession([a], 'read', { clientId: 'wall', clean: false })
    const second = await service.connectSession([a], 'read', { clientId: 'wall', clean: false })
    expect(second.connack.sessionPresent).toBe(false)
    await first.ping()
    await second.ping()
  })
})

describe('a SUBSCRIBE', () => {
  it('is refused what is beyond the limit, and only that', async () => {
    const service = await DoorService.start({ limits: { subscriptionsPerConnection: 3 } })
    const thing = await service.createThing()
    const client = await service.connectThing(thing, { clientId: 'many', clean: false })
    const of = (...keys: string[]) => keys.map(key => `things/${thing.thingToken}/values/${key}`)
    expect(await client.subscribeAll(of('a', 'b'))).toEqual([1, 1])
    expect(await client.subscribeAll(of('a', 'c', 'd', 'b'))).toEqual([1, 1, no, 1])
    expect(await client.subscribe(of('e')[0] ?? '')).toBe(no)
    expect(service.things.limits.met.get('too_many_subscriptions')).toBe(2)
    await client.unsubscribe(...of('a'))
    expect(await client.subscribe(of('e')[0] ?? '')).toBe(1)
  })
})
