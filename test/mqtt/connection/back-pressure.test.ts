import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { generate, type Packet, type QoS } from 'mqtt-packet'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, readAll, type Thing } from '../../helpers/http-client.ts'
import {
  connectMqtt,
  encodePackets,
  isOf,
  type MqttClient,
  publishPacket,
} from '../../helpers/mqtt-client.ts'
import { createGate, type SlowService, startSlowService } from '../observed-store.ts'

/** Contract §9. */
const maximumPending = 256
const maximumPendingOfAll = 1_024
const leastPending = 32
/** How many of one connection count for that. */
const largestShare = 64
const flooders = 80
const writesOfEach = 200
const deadline = 50_000
/** Pending packets are bounded by their bytes too. */
const maximumPendingBytes = 64 * 1024
/** What may lie between a socket and a pending packet: streams, the frame of a WebSocket, a packet half read. */
const buffers = 256 * 1024

const transports = { TCP: 'mqttUrl', WebSocket: 'webSocketUrl' } as const
const sizes = {
  'tiny packets': { padding: 0, writes: 5_000 },
  'packets of 20 KB': { padding: 20_000, writes: 300 },
}
const segments = { 'one packet': 1, '20 packets': 20 }
const floods = Object.entries(transports).flatMap(([transport, address]) =>
  Object.entries(sizes).flatMap(([size, { padding, writes }]) =>
    Object.entries(segments).map(
      ([segment, packets]) =>
        [
          `${size} over ${transport} in segments of ${segment}`,
          { address, padding, writes, packets },
        ] as const,
    ),
  ),
)

/** White space around the JSON makes a packet large and leaves the store its speed. */
function bytesOfWrite({ thingToken }: Thing, value: number, padding: number, qos: QoS): Buffer {
  const text = `{"values":[{"key":"n","value":${value}}]}${' '.repeat(padding)}`
  return generate(publishPacket(`things/${thingToken}/write`, text, { qos, messageId: value + 1 }))
}

/** The last is acked, so that its ack tells of all. */
function qosOf(value: number, writes: number): QoS {
  const fromLast = writes - 1 - value
  if (fromLast % 12 === 6) return 2
  return fromLast % 2 === 0 ? 1 : 0
}

/** Sends as fast as the socket takes it. */
async function flood(client: MqttClient, packets: readonly Buffer[], perSegment: number): Promise<void> {
  for (let next = 0; next < packets.length; next += perSegment) {
    client.sendBytes(Buffer.concat(packets.slice(next, next + perSegment)))
    await new Promise(resolve => setImmediate(resolve))
  }
}

async function stored(service: SlowService, thing: Thing, key: string): Promise<unknown[]> {
  return (await readAll(service, thing, key)).map(({ value }) => value).toReversed()
}

const writesTo = (count: number) => Array.from({ length: count }, (_, value) => value)

/** Bytes that the connections which come from now on have been read, by the server's end of each, in their order. */
function bytesRead(): () => number[] {
  const sockets: Socket[] = []
  const accepted = channel('net.server.socket')
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  accepted.subscribe(note)
  onTestFinished(() => void accepted.unsubscribe(note))
  return () => sockets.map(socket => socket.bytesRead)
}

describe('a connection that floods a slow store', () => {
  it.each(floods)(
    'has at most 256 pending writes and is not read ahead: %s',
    async (_flood, { address, padding, writes, packets }) => {
      const gate = createGate()
      const service = await startSlowService({ ...gate, after: () => delay(5) })
      const thing = await createThing(service)
      const other = await connectMqtt({ url: service[address], username: thing.thingToken })
      const read = bytesRead()
      const client = await connectMqtt({ url: service[address], deadline, username: thing.thingToken })
      const bytes = writesTo(writes).map(value => bytesOfWrite(thing, value, padding, qosOf(value, writes)))
      const flooding = flood(client, bytes, packets)
      const size = bytes.at(-1)?.length ?? 0
      const fewest = Math.min(10, Math.floor(maximumPendingBytes / size))
      await service.store.called(fewest)
      // The server takes many turns, in each of which it could read 64 KiB.
      for (let turn = 0; turn < 150; turn++) await other.ping()
      const [taken = 0, ...others] = read()
      expect(others).toEqual([])
      const inHand = Math.min(maximumPending * size, maximumPendingBytes)
      // A message of a WebSocket is read as a whole: one that is being parsed, and the next.
      const messages = address === 'webSocketUrl' ? 2 * packets * size : 0
      expect(taken).toBeLessThan(inHand + messages + buffers)

      gate.open()
      await client.next(isOf('puback', writes))
      await flooding
      expect(service.store.mostPending).toBeGreaterThanOrEqual(fewest)
      expect(service.store.mostPending).toBeLessThanOrEqual(maximumPending)
      expect(await stored(service, thing, 'n')).toEqual(writesTo(writes))
      await client.disconnect()
      await other.disconnect()
    },
  )
})

describe('connections that flood a slow store together', () => {
  it('have 1,024 pending writes, 64 of each counted, and then 32 each', async () => {
    const gate = createGate()
    const service = await startSlowService(gate)
    const thing = await createThing(service)
    const other = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken })
    const connecting = Array.from({ length: flooders }, () =>
      connectMqtt({ url: service.mqttUrl, deadline, username: thing.thingToken }),
    )
    const clients = await Promise.all(connecting)
    for (const [index, client] of clients.entries()) {
      const writes = writesTo(writesOfEach).map(value =>
        generate(
          publishPacket(
            `things/${thing.thingToken}/write`,
            `{"values":[{"key":"n${index}","value":${value}}]}`,
            { qos: 1, messageId: value + 1 },
          ),
        ),
      )
      client.sendBytes(Buffer.concat(writes))
    }
    await service.store.called(maximumPendingOfAll)
    for (let turn = 0; turn < 50; turn++) await other.ping()
    const full = maximumPendingOfAll / largestShare
    const most = full * writesOfEach + (flooders - full) * leastPending
    expect(service.store.mostPending).toBeLessThanOrEqual(most)

    gate.open()
    await Promise.all(clients.map(client => client.next(isOf('puback', writesOfEach))))
    for (const [index, client] of clients.entries()) {
      expect(await stored(service, thing, `n${index}`)).toEqual(writesTo(writesOfEach))
      await client.disconnect()
    }
    await other.disconnect()
  })
})

describe.each(Object.entries(transports))(
  'a client over %s that has left, with more writes behind it than were pending',
  (_transport, address) => {
    // Those at QoS 1 are acknowledged to somebody who takes nothing any more.
    it.each([0, 1] as const)('at QoS %i, has all of them stored, and no will written', async qos => {
      const gate = createGate()
      const service = await startSlowService(gate)
      const thing = await createThing(service)
      const topic = `things/${thing.thingToken}/write`
      const state = (value: string) => ({ values: [{ key: 'state', value }] })
      const will = { topic, payload: state('lost') }
      const client = await connectMqtt({ url: service[address], username: thing.thingToken, will })
      const writes = writesTo(1_000)
      client.sendBytes(Buffer.concat(writes.map(value => bytesOfWrite(thing, value, 0, qos))))
      const left = client.disconnect()
      await service.store.called(maximumPending)
      gate.open()
      await service.store.called(writes.length)
      await left
      const other = await connectMqtt({ url: service[address], username: thing.thingToken })
      await other.publish(topic, state('back'))
      await other.disconnect()
      expect(await stored(service, thing, 'n')).toEqual(writes)
      expect(await stored(service, thing, 'state')).toEqual(['back'])
    })
  },
)

describe('a connection with a keep-alive of 1 s', () => {
  it('is not cut while so many writes wait that it is not read for 3 s, but when it falls silent', async () => {
    const gate = createGate()
    const service = await startSlowService(gate)
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken, keepalive: 1 })
    client.sendBytes(Buffer.concat(writesTo(400).map(value => bytesOfWrite(thing, value, 0, 1))))
    for (let half = 0; half < 6; half++) {
      client.send({ cmd: 'pingreq' })
      await delay(500)
    }
    gate.open()
    await client.next(isOf('puback', 400))
    for (let half = 0; half < 6; half++) await client.next(isOf('pingresp'))
    expect(client.acknowledgements).toHaveLength(400)
    await client.closed
  })

  it.each([0, 1, 2] as const)('is not cut while it publishes at QoS %i and sends no PINGREQ', async qos => {
    const service = await startSlowService({})
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken, keepalive: 1 })
    for (let half = 0; half < 6; half++) {
      await client.publish(
        `things/${thing.thingToken}/write`,
        { values: [{ key: 'n', value: half }] },
        { qos },
      )
      await delay(500)
    }
    await client.ping()
    expect(await stored(service, thing, 'n')).toHaveLength(6)
    await client.disconnect()
  })

  it('is answered its PINGREQs while a few writes wait for 3 s', async () => {
    const gate = createGate()
    const service = await startSlowService(gate)
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service.webSocketUrl, username: thing.thingToken, keepalive: 1 })
    client.sendBytes(Buffer.concat(writesTo(10).map(value => bytesOfWrite(thing, value, 0, 2))))
    for (let half = 0; half < 6; half++) {
      await client.ping()
      await delay(500)
    }
    expect(client.acknowledgements).toEqual([])
    gate.open()
    await client.next(isOf('pubrec', 10))
    await client.disconnect()
  })
})

describe('a client that reads no answers', () => {
  it('is not read either, and then cut', async () => {
    const service = await startSlowService({})
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service.mqttUrl, username: thing.thingToken })
    client.stream.pause()
    // Each is answered with a byte for each of its filters.
    const subscriptions = Array.from({ length: 500 }, () => ({ topic: 'a', qos: 0 as const }))
    const subscribe: Packet = { cmd: 'subscribe', messageId: 7, subscriptions }
    const segment = encodePackets(...Array.from({ length: 20 }, () => subscribe))
    let isOpen = true
    const closed = client.closed.then(() => {
      isOpen = false
    })
    while (isOpen) {
      if (client.stream.write(segment)) await new Promise(resolve => setImmediate(resolve))
      else await Promise.race([once(client.stream, 'drain').catch(() => {}), closed])
    }
    // Until what the kernel holds is full.
  }, 240_000)
})
