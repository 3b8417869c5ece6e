import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { writeBatches } from '../../store/level/write-batches.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { createGate, type ObservedStore, observeStore, type Slowness } from '../observed-store.ts'

afterEach(() => vi.restoreAllMocks())

const session = { clientId: 'board', clean: false }
const messageId = 77
/** Milliseconds: how long a write waits for a store that is later than that. On a loaded machine a commit takes some 300. */
const storeTimeout = 1_500

/** Sends the packet, and waits for PUBREC. */
function send(client: MqttClient, { thingToken }: Thing, value: number, dup = false): Promise<number> {
  return client.publishUntilPubrec(writeTopicOf(thingToken), reading(value), { messageId, dup })
}

/** Sends the packet to a store that is late with it, and loses the connection. */
async function sendInVain(client: MqttClient, { thingToken }: Thing, value: number): Promise<void> {
  client.send(publishPacket(writeTopicOf(thingToken), reading(value), { qos: 2, messageId }))
  await client.untilClosed()
  expect(client.acknowledgements).toEqual([])
}

async function start(slowness: Slowness) {
  const observed: ObservedStore[] = []
  const service = await DoorService.start({
    storeTimeout,
    alter: store => void observed.push(observeStore(store, slowness)),
  })
  return { service, thing: await service.createThing() }
}

describe('a QoS 2 PUBLISH that the store is late with, sent again on the next connection', () => {
  it('is not stored again if it was stored', async () => {
    const { open, before } = createGate()
    const { service, thing } = await start({ ...(before && { after: before }), open })
    await sendInVain(await service.connectThing(thing, session), thing, 1)
    open()
    const client = await service.connectThing(thing, session)
    await send(client, thing, 1, true)
    await client.release(messageId)
    await send(client, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })

  it('is stored if it was not', async () => {
    const gate = createGate()
    const { service, thing } = await start(gate)
    await sendInVain(await service.connectThing(thing, session), thing, 1)
    gate.open()
    const client = await service.connectThing(thing, session)
    for (const dup of [true, true]) await send(client, thing, 1, dup)
    await client.release(messageId)
    expect(await service.values(thing, 'n')).toEqual([1])
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
  })

  it('waits for a disk that is still writing it', async () => {
    const disk = createGate()
    const service = await DoorService.start({ storeTimeout })
    const thing = await service.createThing()
    const publish = publishPacket(writeTopicOf(thing.thingToken), reading(1), { qos: 2, messageId })
    const first = await service.connectThing(thing, session)
    const begun = new Promise<void>(resolve => {
      writeBatches(async write => {
        resolve()
        await disk.before?.()
        await write()
      })
    })
    first.send(publish)
    await begun
    const connecting = service.connectThing(thing, session)
    await first.untilClosed()
    // Behind the packet: it has failed when this has.
    await expect(service.things.documents.put({ mark: {} }, 'keep')).rejects.toMatchObject({
      reason: 'store_timeout',
    })
    disk.open()
    const next = await connecting
    next.send({ ...publish, dup: true } as typeof publish)
    await next.next(isOf('pubrec', messageId))
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('is taken behind its PUBREL, which comes first, as another one', async () => {
    const { open, before } = createGate()
    const { service, thing } = await start({ ...(before && { after: before }), open })
    await sendInVain(await service.connectThing(thing, session), thing, 1)
    open()
    const client = await service.connectThing(thing, session)
    await client.release(messageId)
    await send(client, thing, 2)
    expect(await service.values(thing, 'n')).toEqual([1, 2])
  })
})
