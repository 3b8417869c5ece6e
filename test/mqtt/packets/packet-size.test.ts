import { generate, type Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createThing, readAll } from '../../helpers/http-client.ts'
import { connectMqtt, encodePackets, isOf, openMqtt, publishPacket } from '../../helpers/mqtt-client.ts'
import { serverOfTests } from '../../helpers/of-test.ts'
import { frameHeader, opcodes, openRawWebSocket } from '../connection/raw-web-socket.ts'

/** Contract §7. */
const maxPacketSize = 1024 * 1024
/** The most that the length of an MQTT packet can say. */
const largest = 268_435_455

const transports = { TCP: 'mqttUrl', WebSocket: 'webSocketUrl' } as const
const sizes = { '256 MB': largest, 'one byte over maxPacketSize': maxPacketSize + 1 }
const announcements = Object.entries(transports).flatMap(([transport, address]) =>
  Object.entries(sizes).map(([size, length]) => ({ transport, address, size, length })),
)

const first = { connect: 0x10, publish: 0x30, subscribe: 0x82 }

/** First byte and length of a packet; nothing of its content. */
function announcement(firstByte: number, length: number): Buffer {
  const bytes = [firstByte]
  for (let rest = length; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest & 127) | 128)
  }
}

const server = serverOfTests()

/** Bytes that are read of a connection at once. */
const readSize = 16 * 1024

it('what comes with too large a packet, behind it, is not stored', async () => {
  const thing = await createThing(server())
  const topic = `things/${thing.thingToken}/write`
  const client = await connectMqtt({ url: server().mqttUrl, username: thing.thingToken })
  const write = (value: number) =>
    generate(publishPacket(topic, `{"values":[{"key":"n","value":${value}}]}`, { qos: 1, messageId: value }))
  // A client with a subscription is let go of a moment later.
  const subscriptions = [{ topic: `things/${thing.thingToken}/values/other`, qos: 1 as const }]
  client.sendBytes(encodePackets({ cmd: 'subscribe', messageId: 9, subscriptions }))
  await client.next(isOf('suback', 9))
  client.sendBytes(write(1))
  await client.next(isOf('puback', 1))
  const before = Buffer.concat([write(2), announcement(first.publish, largest)])
  const behind = Array.from({ length: 50 }, (_, index) => write(index + 3))
  client.sendBytes(Buffer.concat([before, Buffer.alloc(readSize - before.length), ...behind]))
  await client.closed
  // Committed behind whatever was handed over before.
  const next = await connectMqtt({ url: server().mqttUrl, username: thing.thingToken })
  next.sendBytes(write(100))
  await next.next(isOf('puback', 100))
  const stored = (await readAll(server(), thing, 'n')).map(({ value }) => value)
  expect(stored.toReversed()).toEqual([1, 2, 100])
  await next.disconnect()
})

describe('a connection that announces too large a packet is closed before the packet comes', () => {
  it.each(announcements)('a CONNECT of $size over $transport', async ({ address, length }) => {
    const client = await openMqtt({ url: server()[address] })
    client.sendBytes(announcement(first.connect, length))
    await client.closed
    expect(client.received).toEqual([])
  })

  it.each(announcements)('a PUBLISH of $size over $transport', async ({ address, length }) => {
    const thing = await createThing(server())
    const client = await connectMqtt({ url: server()[address], username: thing.thingToken })
    client.sendBytes(announcement(first.publish, length))
    await client.closed
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack'])
  })

  it.each(announcements)('a SUBSCRIBE of $size over $transport', async ({ address, length }) => {
    const client = await connectMqtt({ url: server()[address] })
    client.sendBytes(announcement(first.subscribe, length))
    await client.closed
  })

  it.each(announcements)(
    'a PUBLISH of $size over $transport whose length comes byte by byte',
    async ({ address, length }) => {
      const client = await connectMqtt({ url: server()[address] })
      for (const byte of announcement(first.publish, length)) {
        client.sendBytes(Buffer.from([byte]))
        await new Promise(resolve => setImmediate(resolve))
      }
      await client.closed
    },
  )

  it('a WebSocket message of 256 MB in one frame', async () => {
    const { socket, closed } = await openRawWebSocket(server().webSocketUrl)
    socket.write(frameHeader(opcodes.binary, largest))
    await closed
  })

  it('a WebSocket message in frames without end, when it is as large as two packets', async () => {
    const fragment = Buffer.alloc(64 * 1024)
    announcement(first.connect, largest).copy(fragment)
    const { socket, isStillOpen } = await openRawWebSocket(server().webSocketUrl)
    let taken = 0
    for (let opcode: number = opcodes.binary; ; opcode = opcodes.continuation) {
      socket.write(frameHeader(opcode, fragment.length, false))
      socket.write(fragment)
      if (!(await isStillOpen())) break
      taken += fragment.length
    }
    expect(taken).toBeLessThanOrEqual(2 * maxPacketSize)
  })
})

describe.each(Object.entries(transports))('over %s', (_transport, address) => {
  it.each([1, 2] as const)('a packet of exactly maxPacketSize is stored and acked at QoS %i', async qos => {
    const thing = await createThing(server())
    const client = await connectMqtt({ url: server()[address], username: thing.thingToken })
    const packet = padded({ topic: `things/${thing.thingToken}/write`, qos, length: maxPacketSize })
    client.send(packet)
    await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', 1))
    expect(await readAll(server(), thing, 'n')).toHaveLength(1)
    await client.disconnect()
  })
})

interface Padded {
  readonly topic: string
  readonly qos: 1 | 2
  /** What the packet announces. */
  readonly length: number
}

/** A write of one record that white space makes as large as wanted. */
function padded({ topic, qos, length }: Padded): Packet {
  const text = JSON.stringify({ values: [{ key: 'n', value: 1 }] })
  const packetIdAndTopicLength = 4
  return publishPacket(topic, text.padEnd(length - topic.length - packetIdAndTopicLength), {
    qos,
    messageId: 1,
  })
}
