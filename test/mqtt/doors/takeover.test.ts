import { setTimeout as delay } from 'node:timers/promises'
import type { QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { messagesOf, numbers, passed, post } from '../messages.ts'
import { ToldLog } from '../sessions/told-log.ts'

const session = { clientId: 'board', clean: false }

/** Of each of four writers: a session that is never well enough to get any of it may miss 1,000 messages. */
const most = 240

/** Writes through both doors at every QoS, until it is stopped. */
function startTraffic(service: DoorService, thing: Thing) {
  let isStopped = false
  const writing = (['HTTP', 0, 1, 2] as const).map(async door => {
    const client = await service.connectThing(thing)
    for (let count = 0; !isStopped && count < most; count++) {
      await delay(3)
      const body = reading(`${door} ${count}`)
      if (door === 'HTTP') await post(service, thing, body)
      else await client.publish(writeTopicOf(thing.thingToken), body, { qos: door as QoS })
      if (door === 0) await client.ping()
    }
  })
  return async () => {
    isStopped = true
    await Promise.all(writing)
  }
}

/** What a session was sent over all its connections, less what was sent again, with DUP and the same packet id. */
function joined(connections: readonly MqttClient[]): string[] {
  const payloads: string[] = []
  const sent = new Map<number, string>()
  for (const connection of connections) {
    for (const packet of connection.received) {
      if (packet.cmd !== 'publish' || packet.retain || packet.messageId === undefined) continue
      const payload = packet.payload.toString()
      if (packet.dup && sent.get(packet.messageId) === payload) continue
      sent.set(packet.messageId, payload)
      payloads.push(payload)
    }
  }
  return payloads
}

/** Ways in which a connection ends; the next one is opened behind it, or in its place. */
const ways = {
  'leaves with DISCONNECT': (client: MqttClient) => client.disconnect(),
  'is cut off': (client: MqttClient) => client.destroy(),
  'is taken over': () => Promise.resolve(),
} as const

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const log = new ToldLog(service, thing)
  const first = await service.connectThing(thing, session)
  await first.subscribe(`things/${thing.thingId}/values/+`)
  await passed(service, thing, first)
  await first.disconnect()
  return { service, thing, log, connections: [first] }
}

describe('a session whose client', () => {
  it.each(Object.entries(ways))(
    '%s again and again while writes go on gets every message once, in order',
    async (_way, end) => {
      const { service, thing, log, connections } = await start()
      const stop = startTraffic(service, thing)
      const urls = [service.mqttUrl, service.webSocketUrl]
      for (const visit of numbers(25)) {
        const url = urls[visit % 2] ?? ''
        const client = await service.connect({ url, username: thing.thingToken, ...session })
        connections.push(client)
        await delay((visit * 7) % 40)
        await end(client)
        if (visit % 3 === 0) await delay((visit * 11) % 30)
      }
      const last = await service.connectThing(thing, session)
      await stop()
      await passed(service, thing, last)
      for (const connection of connections) await connection.untilClosed().catch(() => {})
      expect(joined([...connections, last])).toEqual(log.told.map(({ payload }) => payload))
      expect(messagesOf(last).length).toBeGreaterThan(0)
    },
  )

  it('is taken over by several at once keeps one of them, which gets every message once, in order', async () => {
    const { service, thing, log, connections } = await start()
    const stop = startTraffic(service, thing)
    for (const _ of numbers(6)) {
      const opening = numbers(4).map(() => service.connectThing(thing, session).catch(() => undefined))
      connections.push(...(await Promise.all(opening)).flatMap(client => client ?? []))
      await delay(20)
    }
    const last = await service.connectThing(thing, session)
    await stop()
    await passed(service, thing, last)
    const all = new Set(joined([...connections, last]))
    expect([...all].toSorted()).toEqual(log.told.map(({ payload }) => payload).toSorted())
    const payloads = messagesOf(last).map(({ payload }) => payload)
    expect(payloads).toEqual(log.told.slice(-payloads.length).map(({ payload }) => payload))
  })

  it('does not read any more is taken over by one that does', async () => {
    const { service, thing, log, connections } = await start()
    const stuck = await service.connectThing(thing, session)
    connections.push(stuck)
    stuck.stream.pause()
    const body = { values: numbers(20).map(value => ({ key: 'n', value: `${value}`.padEnd(10_000, '.') })) }
    for (const _ of numbers(25)) await post(service, thing, body)
    const last = await service.connectThing(thing, session)
    await passed(service, thing, last)
    // At most 1 MiB of what it did not get, and what is latest, for what it will never get.
    const payloads = messagesOf(last)
      .filter(({ retain }) => !retain)
      .map(({ payload }) => payload)
    expect(payloads.length).toBeGreaterThan(100)
    expect(payloads).toEqual(log.told.slice(-payloads.length).map(({ payload }) => payload))
    stuck.stream.resume()
    await stuck.untilClosed()
  })

  it('comes with clean=true in the middle gets what is live from then on, and the one before nothing more', async () => {
    const { service, thing, log } = await start()
    const before = await service.connectThing(thing, session)
    const stop = startTraffic(service, thing)
    await passed(service, thing, before)
    const clean = await service.connectThing(thing, { ...session, clean: true })
    expect(clean.connack.sessionPresent).toBe(false)
    await before.untilClosed()
    await clean.subscribe(`things/${thing.thingId}/values/+`)
    await passed(service, thing, clean)
    await stop()
    await passed(service, thing, clean)
    const live = messagesOf(clean).filter(({ retain }) => !retain)
    expect(live.map(({ payload }) => payload)).toEqual(
      log.told.slice(-live.length).map(({ payload }) => payload),
    )
    await clean.disconnect()
    expect((await service.connectThing(thing, session)).connack.sessionPresent).toBe(false)
  })
})

describe('a session of a server that stops and starts while writes come in through both doors', () => {
  it('gets every message that was stored once, in order', async () => {
    const { service: before, thing, connections } = await start()
    let service = before
    for (const round of numbers(4)) {
      const client = await service.connectThing(thing, session)
      connections.push(client)
      const current = service
      let isTaking = true
      const over = async (door: 'HTTP' | 'MQTT', writer: number) => {
        const device = door === 'MQTT' ? await current.connectThing(thing) : undefined
        for (let count = 0; isTaking; count++) {
          const body = reading(`${round} ${door} ${writer} ${count}`)
          const sending = device
            ? device.publish(writeTopicOf(thing.thingToken), body)
            : post(current, thing, body)
          await sending.catch(() => {
            isTaking = false
          })
        }
      }
      const doors = ['HTTP', 'HTTP', 'HTTP', 'HTTP', 'MQTT', 'MQTT'] as const
      const writing = doors.map((door, writer) => over(door, writer))
      await current.committed(thing, 100)
      if (round % 2) await client.destroy()
      service = await current.restart()
      await Promise.all(writing)
    }
    const last = await service.connectThing(thing, session)
    await passed(service, thing, last)
    const seen = joined([...connections, last])
      .map(payload => JSON.parse(payload))
      .filter(({ key }) => key === 'n')
      .map(({ value }) => value)
    expect(seen).toEqual(await service.values(thing, 'n'))
  })
})
