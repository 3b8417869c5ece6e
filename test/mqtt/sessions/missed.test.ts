import type { QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import {
  isMark,
  type Message,
  messagesOf,
  nextOn,
  numbers,
  passed,
  post,
  valuesOf,
  writeAll,
} from '../messages.ts'

const session = { clientId: 'board', clean: false }

/** A session of a thing that is subscribed to its resource `n` and to `mark`, and now away. */
async function start(qos: QoS = 1) {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const filter = `things/${thing.thingId}/values/n`
  const marks = `things/${thing.thingId}/values/mark`
  const first = await service.connectThing(thing, session)
  await first.subscribe(filter, qos)
  await first.subscribe(marks)
  await passed(service, thing, first)
  await first.disconnect()
  return { service, thing, filter, marks }
}

/** Comes back, and gives what it is sent until it has everything. */
async function comeBack(service: DoorService, thing: Thing): Promise<Message[]> {
  const client = await service.connectThing(thing, session)
  expect(client.connack.sessionPresent).toBe(true)
  await passed(service, thing, client)
  await client.disconnect()
  return messagesOf(client).filter(message => !isMark(message))
}

const valuesIn = (messages: readonly Message[]) => messages.map(({ payload }) => JSON.parse(payload).value)

describe('a session that comes back', () => {
  it('gets what was written while it was away, in order, as it would have been told live, and once', async () => {
    const { service: before, thing, filter } = await start()
    let service = before
    const witness = async () => {
      const client = await service.connectThing(thing)
      await client.subscribeAll([filter, `things/${thing.thingId}/values/mark`])
      return client
    }
    for (const restarts of [false, true]) {
      const live = await witness()
      const writer = await service.connectThing(thing)
      for (const qos of [0, 1, 2] as const) {
        const body = {
          values: [{ key: 'n', value: qos, geo: { lat: 1, long: 2 }, datetime: `2026010${3 - qos}000000` }],
        }
        await writer.publish(writeTopicOf(thing.thingId), body, { qos })
      }
      await writeAll(service, thing, 'x', { y: [null] })
      await passed(service, thing, live)
      const told = messagesOf(live).filter(message => !isMark(message) && !message.retain)
      if (restarts) service = await service.restart()
      expect(await comeBack(service, thing)).toEqual(told)
      expect(await comeBack(service, thing)).toEqual([])
    }
  })

  it('gets what it missed before what is live', async () => {
    const { service, thing } = await start()
    for (const round of numbers(5)) {
      await writeAll(service, thing, ...numbers(30, round * 60))
      const writing = Promise.all(numbers(30, round * 60 + 30).map(value => writeAll(service, thing, value)))
      const client = await service.connectThing(thing, session)
      await writing
      await passed(service, thing, client)
      const seen = valuesOf(client, 'n')
      const stored = (await service.values(thing, 'n')).slice(round * 60)
      expect(seen).toEqual(stored)
      await client.disconnect()
    }
  })

  it('gets nothing of what it did not subscribe to, of filters at QoS 0, and of before it subscribed', async () => {
    const { service, thing, filter } = await start()
    const device = await service.connectThing(thing, session)
    await writeAll(service, thing, 'live')
    await nextOn(device, '/n')
    await post(service, thing, reading('before', 'late'))
    await device.subscribe(`things/${thing.thingId}/values/zero`, 0)
    await device.subscribe(`things/${thing.thingId}/values/late`)
    await passed(service, thing, device)
    await device.disconnect()
    const other = await service.createThing()
    await writeAll(service, other, 'of another thing')
    const values = ['a', 'zero', 'late', 'n', 'zero'].map(key => ({ key, value: `missed ${key}` }))
    await post(service, thing, { values })
    expect(valuesIn(await comeBack(service, thing))).toEqual(['missed late', 'missed n'])
    const back = await service.connectThing(thing, session)
    await back.subscribe(filter, 0)
    await passed(service, thing, back)
    await back.disconnect()
    await post(service, thing, { values })
    expect(valuesIn(await comeBack(service, thing))).toEqual(['missed late'])
  })

  it('gets nothing of a filter that was ended, before it left or since', async () => {
    const { service, thing, filter } = await start()
    await post(service, thing, { values: [{ key: 'other', value: 1 }] })
    const device = await service.connectThing(thing, session)
    await device.subscribe(`things/${thing.thingId}/values/other`)
    await device.next(({ cmd }) => cmd === 'publish')
    await device.unsubscribe(filter)
    await device.disconnect()
    await post(service, thing, {
      values: [
        { key: 'n', value: 1 },
        { key: 'other', value: 2 },
      ],
    })
    expect(valuesIn(await comeBack(service, thing))).toEqual([2])
  })

  it('gets nothing of what was live only or not broadcast, nor of a write that was sent again', async () => {
    const { service, thing } = await start()
    const record = { key: 'n', value: 1, datetime: '20260101000000' }
    await post(service, thing, { values: [record] })
    await post(service, thing, { ...reading('live only'), store: false })
    await post(service, thing, { ...reading('silent'), broadcast: false })
    await post(service, thing, { values: [record, { ...record, value: 2 }] })
    expect(valuesIn(await comeBack(service, thing))).toEqual([1, 2])
  })

  it('gets all kinds of messages of a write in their places, each once where filters overlap', async () => {
    const { service, thing } = await start()
    const device = await service.connectThing(thing, session)
    const { thingId } = thing
    await device.subscribeAll(
      [`things/${thingId}/values/+`, `v2/things/${thingId}`, `things/${thingId}/#`],
      2,
    )
    await passed(service, thing, device)
    await device.disconnect()
    await service.refuse(thing)
    await post(service, thing, {
      values: [
        { key: 'n', value: 1, datetime: '20260101000000' },
        { key: 'm', value: 2 },
      ],
    })
    await post(service, thing, reading(3))
    const seen = (await comeBack(service, thing)).filter(({ topic }) => !topic.endsWith('/date'))
    expect(seen.map(({ topic, qos, retain, dup }) => [topic, qos, retain, dup])).toEqual(
      [`things/I/values/n`, `things/I/values/m`, `v2/things/I`, `things/I/values/n`, `v2/things/I`].map(
        topic => [topic.replace('I', thingId), 1, false, false],
      ),
    )
    expect(seen[2]?.payload).toBe('[{"key":"n","datetime":"20260101000000","value":1},{"key":"m","value":2}]')
  })

  it('of the admin gets what was missed of every thing, in commit order', async () => {
    const service = await DoorService.start()
    const things = [await service.createThing(), await service.createThing(), await service.createThing()]
    const admin = { ...session, username: 'operator', password: service.adminKey }
    const first = await service.connect(admin)
    await first.subscribeAll(['things/+/values/n', 'things/+/values/mark'])
    const [thing] = things
    if (!thing) throw new Error('no thing')
    await passed(service, thing, first)
    await first.disconnect()
    const order: string[] = []
    service.things.records.onCommit(({ thingId }) => order.push(`things/${thingId}/values/n`))
    await Promise.all(numbers(20).flatMap(value => things.map(thing => writeAll(service, thing, value))))
    const expected = [...order]
    const second = await service.connect(admin)
    await passed(service, thing, second)
    expect(messagesOf(second, '/n').map(({ topic }) => topic)).toEqual(expected)
  })

  it('is its own: of each client id, and of each thing', async () => {
    const { service, thing, filter } = await start()
    const other = await service.createThing()
    const clients = [
      [thing, 'second', filter],
      [other, 'board', `things/${other.thingId}/values/n`],
    ] as const
    for (const [of, clientId, own] of clients) {
      const client = await service.connectThing(of, { clientId, clean: false })
      expect(client.connack.sessionPresent).toBe(false)
      await client.subscribeAll([own, `things/${of.thingId}/values/mark`])
      await passed(service, of, client)
      await client.disconnect()
    }
    await writeAll(service, thing, 1)
    expect(valuesIn(await comeBack(service, thing))).toEqual([1])
    await writeAll(service, thing, 2)
    await writeAll(service, other, 3)
    const seen = clients.map(async ([of, clientId]) => {
      const client = await service.connectThing(of, { clientId, clean: false })
      await passed(service, of, client)
      return valuesOf(client, 'n')
    })
    expect(await Promise.all(seen)).toEqual([[1, 2], [3]])
    expect(valuesIn(await comeBack(service, thing))).toEqual([2])
  })

  it('is gone after a CONNECT with clean=true, with all that it missed', async () => {
    const { service, thing, filter, marks } = await start()
    await writeAll(service, thing, 1)
    const clean = await service.connectThing(thing, { ...session, clean: true })
    await clean.subscribe(marks)
    await passed(service, thing, clean)
    await clean.disconnect()
    const after = await service.connectThing(thing, session)
    expect(after.connack.sessionPresent).toBe(false)
    await writeAll(service, thing, 2)
    await after.subscribeAll([filter, marks], 1)
    await writeAll(service, thing, 3)
    await passed(service, thing, after)
    expect(messagesOf(after, '/n').map(({ payload, retain }) => [JSON.parse(payload).value, retain])).toEqual(
      [
        [2, true],
        [3, false],
      ],
    )
  })
})

describe('a SUBSCRIBE of a session that comes back', () => {
  const when = {
    'right behind CONNECT': 'pipelined',
    'when it has everything': 'late',
  } as const

  it.each(Object.entries(when))('to the same filter again loses nothing: %s', async (_name, time) => {
    const { service, thing, filter, marks } = await start()
    const subscriptions = [
      { topic: filter, qos: 1 as const },
      { topic: marks, qos: 1 as const },
    ]
    const subscribe = { cmd: 'subscribe' as const, messageId: 9, subscriptions }
    for (const round of numbers(3)) {
      await writeAll(service, thing, ...numbers(200, round * 200))
      const pipelined = time === 'pipelined' ? { pipelined: [subscribe] } : {}
      const client = await service.connectThing(thing, { ...session, ...pipelined })
      if (time === 'late') {
        await passed(service, thing, client)
        client.send(subscribe)
      }
      await client.next(isOf('suback', 9))
      await passed(service, thing, client)
      const live = messagesOf(client, '/n').filter(({ retain }) => !retain)
      expect(valuesIn(live)).toEqual(numbers(200, round * 200))
      const retained = messagesOf(client, '/n').filter(({ retain }) => retain)
      expect(valuesIn(retained)).toEqual([round * 200 + 199])
      await client.disconnect()
    }
  })

  it('to the same filter leaves unacked messages owed', async () => {
    const { service, thing, filter } = await start()
    const device = await service.connect({ acknowledges: false, username: thing.thingToken, ...session })
    await writeAll(service, thing, 1, 2)
    for (const _ of numbers(2)) await nextOn(device, '/n')
    expect(await device.subscribe(filter)).toBe(1)
    await device.destroy()
    const seen = (await comeBack(service, thing)).filter(({ retain }) => !retain)
    expect(seen.map(({ payload, dup }) => [JSON.parse(payload).value, dup])).toEqual([
      [1, true],
      [2, true],
    ])
  })

  it('at QoS 1 in the place of QoS 0 is for what comes after it', async () => {
    const { service, thing, filter } = await start(0)
    await writeAll(service, thing, 'at QoS 0')
    const device = await service.connectThing(thing, session)
    await device.subscribe(filter, 1)
    await passed(service, thing, device)
    expect(messagesOf(device, '/n').map(({ retain }) => retain)).toEqual([true])
    await device.disconnect()
    await writeAll(service, thing, 'at QoS 1')
    expect(valuesIn(await comeBack(service, thing))).toEqual(['at QoS 1'])
  })
})

describe('what a session has not acknowledged', () => {
  async function startDeaf() {
    const started = await start()
    const { service, thing } = started
    const connectDeaf = () => service.connect({ acknowledges: false, username: thing.thingToken, ...session })
    /** Packet id, value and DUP of the next messages. */
    const next = async (client: MqttClient, count: number) => {
      const seen: [id: number | undefined, value: unknown, dup: boolean][] = []
      for (const _ of numbers(count)) {
        const packet = await client.next(packet => packet.cmd === 'publish' && packet.topic.endsWith('/n'))
        if (packet.cmd !== 'publish') throw new Error('no message')
        seen.push([packet.messageId, JSON.parse(packet.payload.toString()).value, packet.dup])
      }
      return seen
    }
    return { ...started, connectDeaf, next }
  }

  it('comes again at each return with DUP and its packet id, in its place, and what was missed behind it', async () => {
    const { service: before, thing, connectDeaf: _, next } = await startDeaf()
    let service = before
    const ids: (number | undefined)[] = []
    for (const visit of numbers(5)) {
      if (visit === 3) service = await service.restart()
      const client = await service.connect({ acknowledges: false, username: thing.thingToken, ...session })
      const owed = await next(client, visit * 4)
      expect(owed.map(([, value]) => value)).toEqual(numbers(visit * 4))
      // Two of each four had been sent before, two were missed.
      expect(owed.map(([, , dup]) => dup)).toEqual(numbers(visit * 4).map(value => value < visit * 4 - 2))
      expect(owed.slice(0, ids.length).map(([id]) => id)).toEqual(ids)
      await writeAll(service, thing, ...numbers(2, visit * 4))
      const live = await next(client, 2)
      expect(live.map(([, value, dup]) => [value, dup])).toEqual(
        numbers(2, visit * 4).map(value => [value, false]),
      )
      ids.splice(0, ids.length, ...[...owed, ...live].map(([id]) => id))
      expect(new Set(ids).size).toBe(ids.length)
      if (visit % 2) await client.disconnect()
      else await client.destroy()
      await writeAll(service, thing, ...numbers(2, visit * 4 + 2))
    }
    expect(valuesIn(await comeBack(service, thing))).toEqual(numbers(20))
    expect(await comeBack(service, thing)).toEqual([])
  })

  it.each([
    ['the first ones', [0, 1, 2], [3, 4, 5]],
    ['all but the first', [1, 2, 3, 4, 5], [0]],
    ['some in between', [1, 4], [0, 2, 3, 5]],
  ])('is sent again alone, where %s were acknowledged', async (_name, acked, owed) => {
    const { service, thing, connectDeaf, next } = await startDeaf()
    const client = await connectDeaf()
    await writeAll(service, thing, ...numbers(6))
    const sent = await next(client, 6)
    for (const index of acked) client.send({ cmd: 'puback', messageId: sent[index]?.[0] ?? 0 })
    await client.ping()
    await client.destroy()
    await writeAll(service, thing, 6)
    const again = await service.connectThing(thing, session)
    expect(await next(again, owed.length)).toEqual(owed.map(index => [sent[index]?.[0], index, true]))
    await passed(service, thing, again)
    expect(valuesOf(again, 'n')).toEqual([...owed, 6])
  })
})
