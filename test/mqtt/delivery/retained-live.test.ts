import { setTimeout as delay } from 'node:timers/promises'
import type { QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, writeTopicOf } from '../door-service.ts'
import { messagesOf, numbers, passed, post } from '../messages.ts'
import { ToldLog } from '../sessions/told-log.ts'

const start = Date.UTC(2026, 0, 1)

/** A write of one or several records: in time order, late, at a datetime that others have too, and live only. */
function bodyOf(writer: string, count: number): object {
  const times = [count, count, count - 10, 5, count]
  const record = (key: string, place: number) => ({
    key,
    value: `${writer} ${count} ${place}`,
    datetime: new Date(start + Math.max(0, times[(count + place) % times.length] ?? 0) * 1_000).toISOString(),
  })
  const keys = count % 3 === 0 ? ['a', 'b', 'a', 'c'] : [['a', 'b', 'c'][count % 3] ?? 'a']
  return { values: keys.map(record), ...(count % 7 === 6 && { store: false }) }
}

/** Writes through both doors at every QoS, and deletes whole resources if asked to, until it is stopped. */
function startTraffic(service: DoorService, thing: Thing, { deletes }: { deletes: boolean }) {
  let isStopped = false
  const writing = (['HTTP', 0, 1, 2] as const).map(async door => {
    const client = await service.connectThing(thing)
    for (let count = 0; !isStopped; count++) {
      const body = bodyOf(String(door), count)
      if (door === 'HTTP') await post(service, thing, body)
      else await client.publish(writeTopicOf(thing.thingToken), body, { qos: door as QoS })
      // At QoS 0 nothing else is waited for.
      if (door === 0) await client.ping()
    }
  })
  const remove = async () => {
    const headers = { authorization: `Bearer ${service.adminKey}` }
    for (let count = 0; deletes && !isStopped; count++) {
      const url = `${service.url}/v2/things/${thing.thingId}/resources/${['a', 'b', 'c'][count % 3]}`
      const { status } = await fetch(url, { method: 'DELETE', headers })
      expect([200, 404]).toContain(status)
      await delay(5)
    }
  }
  const removing = remove()
  return async () => {
    isStopped = true
    await Promise.all([...writing, removing])
  }
}

interface Joiner {
  readonly client: MqttClient
  readonly filters: readonly string[]
  readonly isMeant: (key: string) => boolean
}

function joinersOf(service: DoorService, { thingId, thingToken }: Thing) {
  const every = () => true
  const only = (key: string) => (other: string) => other === key || other === 'mark'
  const selections: readonly (readonly [filters: readonly string[], isMeant: (key: string) => boolean])[] = [
    [[`things/${thingId}/values/+`], every],
    [[`things/${thingToken}/values/#`], every],
    [[`things/${thingId}/#`], every],
    [[`things/${thingId}/values/a`, `things/${thingId}/values/mark`], only('a')],
    [[`things/${thingToken}/values/b`, `things/${thingId}/+/mark`], only('b')],
    [['things/+/values/+'], every],
    [['things/+/values/#', `things/${thingId}/values/a`], every],
    [['things/+/values/c', 'things/+/values/mark'], only('c')],
  ]
  const urls = [service.mqttUrl, service.webSocketUrl]
  return Promise.all(
    selections.map(async ([filters, isMeant], index): Promise<Joiner> => {
      const credential = filters[0]?.startsWith('things/+') ? service.adminKey : thingToken
      const url = urls[index % 2] ?? ''
      return { client: await service.connect({ url, username: 'x', password: credential }), filters, isMeant }
    }),
  )
}

function expectInPlace({ client, isMeant }: Joiner, log: ToldLog, subscribed: number): void {
  const messages = messagesOf(client).filter(({ topic }) => topic.includes('/values/'))
  const live = messages.filter(({ retain }) => !retain).map(({ payload }) => payload)
  const told = log.told.filter(({ key }) => isMeant(key)).map(({ payload }) => payload)
  // From one message on all of them, once, in order.
  const before = told.length - live.length
  expect(live).toEqual(told.slice(before))
  const blocks = new Map<number, string[]>()
  let count = before
  for (const { retain, payload } of messages) {
    if (retain) blocks.set(count, [...(blocks.get(count) ?? []), payload])
    else count++
  }
  expect(blocks.size).toBeLessThanOrEqual(subscribed)
  for (const [place, payloads] of blocks) {
    expect(payloads.toSorted()).toEqual(Object.values(log.latestAfter(place, isMeant)).toSorted())
  }
}

describe('while a thing is written through both doors', () => {
  it.each([
    ['nothing is deleted', { deletes: false }],
    ['resources are deleted', { deletes: true }],
  ])(
    'what a subscriber gets as retained is what was latest at that place among the live messages, and it gets every later one once: %s',
    async (_name, options) => {
      const service = await DoorService.start()
      const thing = await service.createThing()
      const log = new ToldLog(service, thing)
      const stop = startTraffic(service, thing, options)
      const joiners: Joiner[] = []
      for (const _ of numbers(3)) joiners.push(...(await joinersOf(service, thing)))
      const subscribed = 6
      const joining = joiners.map(async ({ client, filters }, index) => {
        for (const time of numbers(subscribed)) {
          await delay((index * 7 + time * 5) % 30)
          await client.subscribeAll(filters, ((index + time) % 2) as QoS)
          await passed(service, thing, client)
        }
      })
      await Promise.all(joining)
      await stop()
      for (const joiner of joiners) {
        await passed(service, thing, joiner.client)
        expectInPlace(joiner, log, subscribed)
      }
      expect(log.told.length).toBeGreaterThan(100)
      for (const { client } of joiners) {
        expect(messagesOf(client).filter(({ retain }) => retain).length).toBeGreaterThan(0)
      }
    },
  )
})
