import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import type { Packet, QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { acceptedSockets } from '../../helpers/accepted-sockets.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import {
  isMark,
  messagesOf,
  nextOn,
  numbers,
  passed,
  post,
  valueIn,
  valuesOf,
  writeAll,
} from '../messages.ts'

const transports = { TCP: 'mqttUrl', WebSocket: 'webSocketUrl' } as const
const ways = Object.entries(transports).flatMap(([transport, address]) =>
  ([0, 1] as const).map(qos => [transport, qos, address] as const),
)
/** One record of about 60 KB; more of them than the buffers of the system take. */
const large = (value: number) => ({ key: 'n', value: `${value}`.padEnd(60_000, '.') })
const numberIn = (payload: string) => Number.parseInt(String(valueIn(payload)), 10)

async function start(drainTimeout: number) {
  const service = await DoorService.start({ drainTimeout })
  const thing = await service.createThing()
  const subscribe = async (url: string, qos: QoS = 1, options = {}) => {
    const client = await service.connect({ url, username: thing.thingToken, deadline: 40_000, ...options })
    await client.subscribe(`things/${thing.thingId}/values/+`, qos)
    return client
  }
  return { service, thing, subscribe }
}

/** Writes so many large records, 16 at a time. */
async function writeLarge(service: DoorService, thing: Thing, count: number): Promise<void> {
  for (let first = 0; first < count; first += 16) {
    await post(service, thing, { values: numbers(Math.min(16, count - first), first).map(large) })
  }
}

const largeSeen = (client: MqttClient) =>
  messagesOf(client, '/n')
    .filter(({ retain }) => !retain)
    .map(({ payload }) => numberIn(payload))

describe('a subscriber that does not read', () => {
  it.each(ways)(
    'over %s at QoS %i is disconnected when its socket has taken nothing for drainTimeout, and others get all',
    async (_transport, qos, address) => {
      const accepted = acceptedSockets()
      const { service, thing, subscribe } = await start(2_000)
      const others = [await subscribe(service.mqttUrl, 0), await subscribe(service.webSocketUrl, 1)]
      const stuck = await subscribe(service[address], qos)
      const cut = new Promise<void>(resolve => accepted.at(-1)?.once('close', () => resolve()))
      stuck.stream.pause()
      await writeLarge(service, thing, 130)
      // It is cut by the server: whatever is written meanwhile reaches the others.
      let count = 0
      const writing = (async () => {
        while (!stuck.stream.destroyed) {
          await writeAll(service, thing, 1_000 + count++)
          stuck.stream.read(0)
          await delay(20)
        }
      })()
      await cut
      // A stream that is paused does not see the end before all that came is read.
      stuck.stream.resume()
      await writing
      for (const other of others) {
        await passed(service, thing, other)
        expect(largeSeen(other)).toEqual([...numbers(130), ...numbers(count, 1_000)])
      }
      expect(largeSeen(stuck).length).toBeLessThan(130 + count)
    },
  )

  it.each(Object.entries(transports))(
    'over %s is disconnected when more than 8 MiB wait for it, and gets the retained view on return',
    async (_transport, address) => {
      const { service, thing, subscribe } = await start(60_000)
      const other = await subscribe(service.mqttUrl)
      const stuck = await subscribe(service[address])
      stuck.stream.pause()
      await writeLarge(service, thing, 400)
      await passed(service, thing, other)
      stuck.stream.resume()
      await stuck.untilClosed()
      expect(largeSeen(other)).toEqual(numbers(400))
      // What it got has no hole: it is not thinned.
      expect(largeSeen(stuck)).toEqual(numbers(largeSeen(stuck).length))
      expect(largeSeen(stuck).length).toBeLessThan(400)
      const back = await subscribe(service[address])
      await passed(service, thing, back)
      const seen = messagesOf(back).filter(message => !isMark(message))
      expect(seen.map(({ payload, retain }) => [numberIn(payload), retain])).toEqual([[399, true]])
    },
  )
})

describe('a session whose client did not read, and was disconnected', () => {
  it.each([0, 1] as const)('at QoS %i is shown the present when it is back', async qos => {
    const { service, thing, subscribe } = await start(60_000)
    const options = { clientId: 'board', clean: false }
    const stuck = await subscribe(service.mqttUrl, qos, options)
    await passed(service, thing, stuck)
    stuck.stream.pause()
    await writeLarge(service, thing, 400)
    stuck.stream.resume()
    await stuck.untilClosed()
    const back = await service.connectThing(thing, options)
    const isRetained = (packet: Packet) => packet.cmd === 'publish' && packet.retain
    await back.next(isRetained)
    await passed(service, thing, back)
    const seen = messagesOf(back).filter(message => !isMark(message))
    const retained = seen.filter(({ retain }) => retain)
    expect(retained.map(({ payload }) => numberIn(payload))).toEqual([399])
    // At most 1 MiB of what it missed, the newest, before that.
    const missed = largeSeen(back)
    expect(missed).toEqual(qos === 0 ? [] : numbers(missed.length, 400 - missed.length))
    expect(seen.at(-1)?.retain).toBe(true)
    await back.disconnect()
    const again = await service.connectThing(thing, options)
    await passed(service, thing, again)
    expect(messagesOf(again).filter(message => !isMark(message))).toEqual([])
  })
})

describe('a subscriber that reads slowly', () => {
  it.each(ways)('over %s at QoS %i gets everything, in order', async (_transport, qos, address) => {
    const { service, thing, subscribe } = await start(3_000)
    const slow = await subscribe(service[address], qos)
    const pace = setInterval(() => {
      slow.stream.resume()
      setImmediate(() => slow.stream.pause())
    }, 20)
    await writeLarge(service, thing, 120)
    await delay(1_000)
    await writeAll(service, thing, 1_000, 1_001)
    await delay(1_000)
    clearInterval(pace)
    // Behind the pause of the last step.
    await immediate()
    slow.stream.resume()
    await passed(service, thing, slow)
    expect(largeSeen(slow)).toEqual([...numbers(120), 1_000, 1_001])
  })
})

describe('a subscriber that reads as fast as it can', () => {
  it.each(ways)('over %s at QoS %i gets a burst of large writes', async (_transport, qos, address) => {
    const { service, thing, subscribe } = await start(5_000)
    const client = await subscribe(service[address], qos)
    await client.subscribe(`v2/things/${thing.thingId}`, qos)
    const writes = numbers(3).map(write => ({
      values: numbers(10_000, write * 10_000).map(value => ({ key: 'n', value })),
    }))
    await Promise.all(writes.map(body => post(service, thing, body)))
    await passed(service, thing, client)
    const stored: unknown[] = []
    for (const payload of messagesOf(client, `v2/things/${thing.thingId}`).map(({ payload }) => payload)) {
      stored.push(
        ...(JSON.parse(payload) as { key: string; value: unknown }[])
          .filter(({ key }) => key === 'n')
          .map(({ value }) => value),
      )
    }
    expect(stored).toHaveLength(writes.length * 10_000)
    expect(valuesOf(client, 'n')).toEqual(stored)
  })
})

describe('a subscriber whose socket is full', () => {
  /** With so much on its way to it that nothing more goes. */
  async function startFull(options = {}) {
    const started = await start(20_000)
    const { service, thing, subscribe } = started
    const client = await subscribe(service.mqttUrl, 1, { acknowledges: false, ...options })
    await writeAll(service, thing, ...numbers(3))
    const ids: number[] = []
    for (const _ of numbers(3)) ids.push((await client.next(isOf('publish'))).messageId ?? 0)
    client.stream.pause()
    await writeLarge(service, thing, 120)
    return { ...started, client, ids }
  }

  it('is heard: its PUBACKs count, and its writes are taken', async () => {
    const { service, thing, client, ids } = await startFull({ clientId: 'board', clean: false })
    for (const messageId of ids) client.send({ cmd: 'puback', messageId })
    client.send({
      cmd: 'publish',
      topic: writeTopicOf(thing.thingToken),
      payload: JSON.stringify(reading('written', 'own')),
      qos: 1,
      messageId: 1,
      dup: false,
      retain: false,
    })
    await service.committed(thing)
    expect(await service.values(thing, 'own')).toEqual(['written'])
    await client.destroy()
    const back = await service.connectThing(thing, { clientId: 'board', clean: false })
    const first = await nextOn(back, '/n')
    // The three that were acknowledged are not among what comes again.
    expect(String(valueIn(first.payload))).toMatch(/\.{9}/)
  })

  it('is not taken for silent as long as it sends PINGREQ, and is answered when it reads', async () => {
    const { client } = await startFull({ keepalive: 3 })
    let isOpen = true
    void client.closed.then(() => {
      isOpen = false
    })
    for (const _ of numbers(15)) {
      client.send({ cmd: 'pingreq' })
      await delay(400)
    }
    expect(isOpen).toBe(true)
    client.stream.resume()
    for (const _ of numbers(15)) await client.next(isOf('pingresp'))
    await client.disconnect()
  })

  it('may subscribe and unsubscribe, and is answered in its turn', async () => {
    const { service, thing, client } = await startFull()
    client.send(
      { cmd: 'unsubscribe', messageId: 91, unsubscriptions: [`things/${thing.thingId}/values/+`] },
      {
        cmd: 'subscribe',
        messageId: 92,
        subscriptions: [{ topic: `things/${thing.thingId}/values/mark`, qos: 1 }],
      },
    )
    await delay(200)
    client.stream.resume()
    await client.next(isOf('unsuback', 91))
    await client.next(isOf('suback', 92))
    await passed(service, thing, client)
  })
})
