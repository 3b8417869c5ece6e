import { beforeEach, describe, expect, it, vi } from 'vitest'
import { acceptedSockets } from '../../helpers/accepted-sockets.ts'
import { encodePackets, isOf, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

/** Milliseconds. */
const minute = 60_000
/** Between two looks at the connections, milliseconds. */
const look = 500

describe('a packet that is begun', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    return () => vi.useRealTimers()
  })

  it.each([
    ['its first byte', 1],
    ['a part of its length', 2],
    ['its header', 3],
    ['all but its last byte', -1],
  ])('closes the connection when a minute has brought no more than %s', async (_case, end) => {
    const { client, packet } = await connect()
    await send(client, packet.subarray(0, end))
    vi.advanceTimersByTime(minute)
    await client.untilClosed()
    expect(client.acknowledgements).toEqual([])
  })

  it('closes it though other bytes come, be it one a second', async () => {
    const { client, packet } = await connect()
    await send(client, packet.subarray(0, 40))
    for (let second = 0; second < 60; second++) {
      client.sendBytes(packet.subarray(40 + second, 41 + second))
      vi.advanceTimersByTime(1_000)
    }
    await client.untilClosed()
  })

  it('is taken if it is finished within the minute, and the next has one of its own', async () => {
    const { service, thing, client, packet } = await connect()
    for (let n = 1; n <= 3; n++) {
      await send(client, packet.subarray(0, 40))
      vi.advanceTimersByTime(minute - look)
      client.sendBytes(packet.subarray(40))
      await client.next(isOf('puback', 1))
    }
    expect(await service.values(thing, 'n')).toHaveLength(3)
  })

  it('has another minute for each in which it grows by 60 KiB', async () => {
    const accepted = acceptedSockets()
    const { service, thing, client } = await connect()
    const socket = accepted.at(-1)
    const values = Array.from({ length: 5 }, () => ({ key: 'n', value: 'x'.repeat(60 * 1024) }))
    const packet = largePacket(thing.thingId, { values })
    await send(client, packet.subarray(0, 100))
    const part = 61 * 1024
    let sent = 100
    for (; sent + part < packet.length; sent += part) {
      const received = (socket?.bytesRead ?? 0) + part
      client.sendBytes(packet.subarray(sent, sent + part))
      await expect.poll(() => socket?.bytesRead).toBe(received)
      vi.advanceTimersByTime(minute)
    }
    client.sendBytes(packet.subarray(sent))
    await client.next(isOf('puback', 1))
    expect(await service.values(thing, 'n')).toHaveLength(5)
  })

  it('has all the time in which the server itself does not read', async () => {
    const { service, thing, client, packet } = await connect()
    const asking = vi.spyOn(service.things.access, 'authorise')
    const release = await new Promise<() => void>(resolve => {
      asking.mockImplementationOnce(async () => {
        await new Promise<void>(released => resolve(released))
        return thing.thingId
      })
      const subscriptions = [{ topic: `things/${thing.thingId}/errors`, qos: 0 as const }]
      const subscribe = encodePackets({ cmd: 'subscribe', messageId: 9, subscriptions })
      client.sendBytes(Buffer.concat([subscribe, packet.subarray(0, 40)]))
    })
    vi.advanceTimersByTime(5 * minute)
    release()
    await client.next(isOf('suback', 9))
    client.sendBytes(packet.subarray(40))
    await client.next(isOf('puback', 1))
  })

  it('is not what an idle connection has', async () => {
    const { client } = await connect()
    vi.advanceTimersByTime(10 * minute)
    await client.ping()
  })
})

async function connect() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const client = await service.connectThing(thing)
  return { service, thing, client, packet: largePacket(thing.thingId, reading('x'.repeat(200))) }
}

function largePacket(thingId: string, body: object): Buffer {
  return encodePackets(publishPacket(writeTopicOf(thingId), body, { messageId: 1 }))
}

/** Resolves when the server has received all of it, and has looked at it. */
async function send(client: MqttClient, bytes: Buffer): Promise<void> {
  client.sendBytes(Buffer.concat([encodePackets({ cmd: 'pingreq' }), bytes]))
  await client.next(isOf('pingresp'))
  vi.advanceTimersByTime(look)
}
