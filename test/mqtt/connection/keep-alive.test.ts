import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { connectMqtt, encodePackets, isOf, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { frameHeader, opcodes, openRawWebSocket } from './raw-web-socket.ts'

/** Contract §9: bytes of a packet that is under way are a sign of life. */

/** Seconds; the server waits one and a half times as long. */
const keepalive = 1
/** Of a slow link: it brings a packet in three keep-alives. */
const pieces = 30
const between = 100
/** Packets of a connection that are read and not acknowledged, at most. */
const mostInHand = 256

const filters = (count: number) => Array.from({ length: count }, (_, index) => `/values/key-${index}`)

/** Sends bytes as a slow link brings them. */
async function trickle(bytes: Buffer, send: (piece: Buffer) => void): Promise<void> {
  const size = Math.ceil(bytes.length / pieces)
  for (let from = 0; from < bytes.length; from += size) {
    send(bytes.subarray(from, from + size))
    await delay(between)
  }
}

const large = reading('x'.repeat(60_000))
const publish = (qos: 0 | 1 | 2) => (thing: Thing) =>
  encodePackets(publishPacket(writeTopicOf(thing.thingId), large, { qos, messageId: 1 }))

const packets: Readonly<Record<string, readonly [(thing: Thing) => Buffer, answer: string]>> = {
  'a PUBLISH at QoS 0': [publish(0), ''],
  'a PUBLISH at QoS 1': [publish(1), 'puback'],
  'a PUBLISH at QoS 2': [publish(2), 'pubrec'],
  'a short PUBLISH, byte by byte': [
    thing => encodePackets(publishPacket(writeTopicOf(thing.thingId), reading(1), { messageId: 1 })),
    'puback',
  ],
  'a PUBLISH behind another one in the same piece': [
    thing => Buffer.concat([publish(1)(thing).subarray(0, 0), publish(0)(thing), publish(1)(thing)]),
    'puback',
  ],
  'a SUBSCRIBE': [
    ({ thingId }) =>
      encodePackets({
        cmd: 'subscribe',
        messageId: 1,
        subscriptions: filters(90).map(rest => ({ topic: `things/${thingId}${rest}`, qos: 1 as const })),
      }),
    'suback',
  ],
  'an UNSUBSCRIBE': [
    ({ thingId }) =>
      encodePackets({
        cmd: 'unsubscribe',
        messageId: 1,
        unsubscriptions: filters(90).map(rest => `things/${thingId}${rest}`),
      }),
    'unsuback',
  ],
}

it.each(['mqttUrl', 'webSocketUrl'] as const)(
  'a packet of any kind may take longer than the keep-alive, over %s',
  async address => {
    const service = await DoorService.start()
    const unanswered = await Promise.all(
      Object.entries(packets).map(async ([name, [encode, answer]]) => {
        const thing = await service.createThing()
        const options = { url: service[address], username: thing.thingToken, keepalive }
        const client = await connectMqtt(options)
        await trickle(encode(thing), piece => client.sendBytes(piece))
        const answered = answer === '' ? client.ping() : client.next(isOf(answer as 'puback'))
        return await answered.then(
          () => [],
          (error: Error) => [`${name}: ${error.message}`],
        )
      }),
    )
    expect(unanswered.flat()).toEqual([])
  },
)

it.each([
  ['one frame', false],
  ['fragments', true],
])('a WebSocket message may take longer than the keep-alive, in %s', async (_name, isFragmented) => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const { socket, isStillOpen } = await openRawWebSocket(service.webSocketUrl)
  const hello = encodePackets({
    ...{ cmd: 'connect', clientId: '', clean: true, keepalive, username: thing.thingToken },
  })
  socket.write(Buffer.concat([frameHeader(opcodes.binary, hello.length), hello]))
  const packet = publish(1)(thing)
  const committed = service.committed(thing)
  if (!isFragmented) socket.write(frameHeader(opcodes.binary, packet.length))
  let sent = 0
  await trickle(packet, piece => {
    if (isFragmented) {
      const isLast = sent + piece.length === packet.length
      socket.write(frameHeader(sent === 0 ? opcodes.binary : opcodes.continuation, piece.length, isLast))
    }
    sent += piece.length
    socket.write(piece)
  })
  await committed
  expect(await isStillOpen()).toBe(true)
})

it('a client that sends nothing is closed after one and a half keep-alives, whatever came before', async () => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken, keepalive })
  const bytes = publish(1)(thing)
  await trickle(bytes.subarray(0, 600), piece => client.sendBytes(piece))
  await client.untilClosed()
  expect(await service.values(thing, 'n')).toEqual([])
})

it('a client whose writes wait for their rate gets PINGRESP unasked, and is not read ahead', async () => {
  const service = await DoorService.start({ limits: { writesPerSecond: 100 } })
  const thing = await service.createThing()
  const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken, keepalive })
  const writes = Array.from({ length: 1_500 }, (_, index) =>
    publishPacket(writeTopicOf(thing.thingId), reading(index), { messageId: index + 1 }),
  )
  client.sendBytes(encodePackets(...writes))
  // Each lies behind what is not read yet.
  const pinging = setInterval(() => client.send({ cmd: 'pingreq' }), 400)
  onTestFinished(() => clearInterval(pinging))
  await client.next(isOf('pingresp'))
  await client.next(isOf('pingresp'))
  expect(client.acknowledgements.length).toBeLessThan(writes.length - mostInHand)
  await client.next(isOf('puback', writes.length))
  expect(client.acknowledgements).toEqual(writes.map(({ messageId }) => `puback ${messageId}`))
})
