import { describe, expect, it } from 'vitest'
import { alterPuts } from '../../helpers/altered-driver.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { encodePackets, isOf, type MqttClient, openMqtt, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { createGate, type ObservedStore, observeStore } from '../observed-store.ts'

const session = { clientId: 'board', clean: false }
const messageId = 7

/** Sends the packet, and waits for PUBREC. */
function send(client: MqttClient, { thingToken }: Thing, value: unknown, dup = false): Promise<number> {
  return client.publishUntilPubrec(writeTopicOf(thingToken), reading(value), { messageId, dup })
}

async function start() {
  const service = await DoorService.start()
  return { service, thing: await service.createThing() }
}

describe('a QoS 2 PUBLISH that is sent again before its PUBREL', () => {
  it.each([
    ['anonymous', {}, false],
    ['clean', { clean: true }, true],
    ['persistent', session, true],
  ] as const)('takes effect once on one connection, %s', async (_kind, options, isThing) => {
    const { service, thing } = await start()
    const client = await (isThing ? service.connectThing(thing, options) : service.connect(options))
    for (const dup of [false, true, true]) await send(client, thing, 1, dup)
    await client.release(messageId)
    expect(await service.values(thing, 'n')).toEqual([1])
    expect(client.acknowledgements).toEqual(['pubrec 7', 'pubrec 7', 'pubrec 7', 'pubcomp 7'])
  })

  it('takes effect once when both are in one segment', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing, session)
    const publish = publishPacket(writeTopicOf(thing.thingToken), reading(1), { qos: 2, messageId })
    const again = { ...publish, dup: true } as typeof publish
    client.sendBytes(encodePackets(publish, again, again))
    await client.release(messageId)
    expect(client.acknowledgements).toEqual(['pubrec 7', 'pubrec 7', 'pubrec 7', 'pubcomp 7'])
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('takes effect once over a reconnect, a takeover and a restart, until it is released', async () => {
    let { service, thing } = await start()
    const connect = () => service.connectThing(thing, session)
    const first = await connect()
    await send(first, thing, 1)
    await first.destroy()
    const second = await connect()
    await send(second, thing, 1, true)
    const third = await connect()
    await send(third, thing, 1, true)
    service = await service.restart()
    const fourth = await connect()
    await send(fourth, thing, 1, true)
    expect(await service.values(thing, 'n')).toEqual([1])
    await fourth.release(messageId)
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
    await send(fourth, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })

  it('takes effect once when the first one is not committed yet', async () => {
    const gate = createGate()
    const observed: ObservedStore[] = []
    const service = await DoorService.start({
      alter: store => void observed.push(observeStore(store, gate)),
    })
    const thing = await service.createThing()
    const first = await service.connectThing(thing, session)
    const publish = publishPacket(writeTopicOf(thing.thingToken), reading(1), { qos: 2, messageId })
    first.send(publish)
    await observed[0]?.called(1)
    await first.destroy()
    const connecting = service.connectThing(thing, session)
    gate.open()
    await send(await connecting, thing, 1, true)
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('is another write in a session of another thing, or in one that is clean', async () => {
    const { service, thing } = await start()
    const other = await service.createThing()
    await send(await service.connectThing(thing, session), thing, 1)
    await send(await service.connectThing(other, session), thing, 2)
    await send(await service.connectThing(thing, { clientId: 'other', clean: false }), thing, 3)
    await send(await service.connectThing(thing, { ...session, clean: true }), thing, 4)
    await send(await service.connectThing(thing, { ...session, clean: true }), thing, 5)
    // Of the other thing, and of the other client.
    expect(await service.documents('mqtt-in-flight/')).toHaveLength(2)
    await send(await service.connectThing(thing, session), thing, 6)
    expect(await service.values(thing, 'n')).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('is not acknowledged on a connection whose session is being wiped', async () => {
    const wiping = createGate()
    let isToWait = false
    let reached = () => {}
    const isWiping = new Promise<void>(resolve => {
      reached = resolve
    })
    const service = await DoorService.start({
      alter: store =>
        alterPuts(store, put => async (...given) => {
          if (isToWait) {
            isToWait = false
            reached()
            await wiping.before?.()
          }
          return await put(...given)
        }),
    })
    const thing = await service.createThing()
    const first = await service.connectThing(thing, session)
    isToWait = true
    const clean = service.connectThing(thing, { ...session, clean: true })
    await isWiping
    await first.untilClosed()
    wiping.open()
    await (await clean).disconnect()
    const third = await service.connectThing(thing, session)
    expect(third.connack.sessionPresent).toBe(false)
    await send(third, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([2])
    await third.release(messageId)
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
  })

  it('leaves nothing of its packet id to the next session when its own is wiped while it is being committed', async () => {
    const gate = createGate()
    const observed: ObservedStore[] = []
    const service = await DoorService.start({
      alter: store => void observed.push(observeStore(store, gate)),
    })
    const thing = await service.createThing()
    const first = await service.connectThing(thing, session)
    first.send(publishPacket(writeTopicOf(thing.thingToken), reading(1), { qos: 2, messageId }))
    await observed[0]?.called(1)
    const clean = service.connectThing(thing, { ...session, clean: true })
    await first.untilClosed()
    gate.open()
    await (await clean).disconnect()
    const third = await service.connectThing(thing, session)
    await third.disconnect()
    const fourth = await service.connectThing(thing, session)
    expect(fourth.connack.sessionPresent).toBe(true)
    await send(fourth, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })

  it('reports a write that was refused once', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing, session)
    for (const dup of [false, true]) {
      await client.publishUntilPubrec(writeTopicOf(thing.thingToken), 'no JSON', { messageId, dup })
    }
    await client.release(messageId)
    expect(await service.things.refused.list(thing.thingId, 10)).toHaveLength(1)
    await send(client, thing, 1)
    expect(await service.values(thing, 'n')).toEqual([1])
  })
})

describe('PUBREL', () => {
  it.each([['clean', { clean: true }] as const, ['persistent', session] as const])(
    'frees the packet id in a %s session',
    async (_kind, options) => {
      const { service, thing } = await start()
      const client = await service.connectThing(thing, options)
      for (const value of [1, 2, 3]) await client.release(await send(client, thing, value))
      expect(await service.values(thing, 'n')).toEqual([1, 2, 3])
      expect(await service.documents('mqtt-in-flight/')).toEqual([])
    },
  )

  it.each([['clean', { clean: true }] as const, ['persistent', session] as const])(
    'frees the packet id at once for what is behind it, in a %s session',
    async (_kind, options) => {
      const { service, thing } = await start()
      const client = await service.connectThing(thing, options)
      const publish = (value: number) =>
        publishPacket(writeTopicOf(thing.thingToken), reading(value), { qos: 2, messageId })
      const pubrel = { cmd: 'pubrel', messageId } as const
      const values = Array.from({ length: 20 }, (_, value) => value)
      client.sendBytes(encodePackets(...values.flatMap(value => [publish(value), pubrel])))
      for (const _ of values) await client.next(isOf('pubcomp', messageId))
      expect(await service.values(thing, 'n')).toEqual(values)
      expect(await service.documents('mqtt-in-flight/')).toEqual([])
    },
  )

  it('is answered with PUBCOMP also when it is sent again, or stands for nothing', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing, session)
    await client.release(await send(client, thing, 1))
    await client.release(messageId)
    await client.release(99)
    await client.destroy()
    const next = await service.connectThing(thing, session)
    await next.release(messageId)
    await next.release(99)
    expect(next.acknowledgements).toEqual(['pubcomp 7', 'pubcomp 99'])
  })

  it('is answered after a restart for a PUBLISH from before it', async () => {
    let { service, thing } = await start()
    await send(await service.connectThing(thing, session), thing, 1)
    service = await service.restart()
    const client = await service.connectThing(thing, session)
    await client.release(messageId)
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
    await send(client, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })

  it('that comes twice is answered twice, both behind what forgets the id', async () => {
    const removal = createGate()
    let arrive = () => {}
    const arrived = new Promise<void>(resolve => {
      arrive = resolve
    })
    const service = await DoorService.start({
      alter: store =>
        alterPuts(store, put => async (...given) => {
          if (Object.keys(given[0]).some(name => name.startsWith('mqtt-in-flight/'))) {
            arrive()
            await removal.before?.()
          }
          return await put(...given)
        }),
    })
    const client = await service.connectThing(await service.createThing(), session)
    const topic = writeTopicOf((await service.createThing()).thingToken)
    await client.publishUntilPubrec(topic, reading(1), { messageId })
    const pubrel = { cmd: 'pubrel', messageId } as const
    client.send(pubrel, pubrel)
    await arrived
    await client.ping()
    expect(client.acknowledgements).toEqual(['pubrec 7'])
    removal.open()
    await client.next(isOf('pubcomp', messageId))
    await client.next(isOf('pubcomp', messageId))
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
  })

  it('in one segment with its PUBLISH is answered behind PUBREC', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing, session)
    const topic = writeTopicOf(thing.thingToken)
    const publish = (value: number) => publishPacket(topic, reading(value), { qos: 2, messageId })
    const pubrel = { cmd: 'pubrel', messageId } as const
    client.sendBytes(encodePackets(publish(1), pubrel))
    await client.next(isOf('pubrec', messageId))
    await client.next(isOf('pubcomp', messageId))
    await send(client, thing, 2)
    expect(client.acknowledgements).toEqual(['pubrec 7', 'pubcomp 7', 'pubrec 7'])
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })
})

describe('QoS 2 packets that wait for their PUBREL', () => {
  it.each([['clean', { clean: true }] as const, ['persistent', session] as const])(
    'may be as many as a client sends before it reads a PUBREC, in a %s session',
    async (_kind, options) => {
      const { service, thing } = await start()
      const client = await service.connectThing(thing, options)
      const topic = writeTopicOf(thing.thingToken)
      const ids = Array.from({ length: 3_000 }, (_, index) => index + 1)
      client.sendBytes(
        encodePackets(...ids.map(id => publishPacket(topic, reading(id), { qos: 2, messageId: id }))),
      )
      await client.next(isOf('pubrec', ids.length))
      expect(await service.values(thing, 'n')).toEqual(ids)
      expect(client.acknowledgements).toEqual(ids.map(id => `pubrec ${id}`))
    },
  )
})

describe('a packet id of 0', () => {
  it.each([1, 2] as const)('closes the connection at QoS %i, without an ack', async qos => {
    const { service, thing } = await start()
    const client = await openMqtt({ url: service.mqttUrl })
    await client.connect({ username: thing.thingToken })
    const bytes = encodePackets(
      publishPacket(writeTopicOf(thing.thingToken), reading(1), { qos, messageId: 0x0101 }),
    )
    const place = 2 + 2 + writeTopicOf(thing.thingToken).length
    bytes.fill(0, place, place + 2)
    client.sendBytes(bytes)
    await client.untilClosed()
    expect(client.acknowledgements).toEqual([])
    expect(await service.values(thing, 'n')).toEqual([])
  })
})
