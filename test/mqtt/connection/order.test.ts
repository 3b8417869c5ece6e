import { setTimeout as delay } from 'node:timers/promises'
import type { Packet, QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing } from '../../helpers/http-client.ts'
import {
  connectMqtt,
  encodePackets,
  isOf,
  type MqttClient,
  openMqtt,
  publishPacket,
} from '../../helpers/mqtt-client.ts'
import { serverOfTests } from '../../helpers/of-test.ts'
import type { MqttService } from '../door-service.ts'
import { createGate, startSlowService } from '../observed-store.ts'

const writes = 1_000
const deadline = 40_000

const server = serverOfTests()

const services = {
  'the server': async (): Promise<MqttService> => server(),
  /** Each write is durable at a time of its own, up to 40 ms late. */
  'a slow store': () => startSlowService({ after: () => delay(Math.random() * 40) }),
}
const transports = { TCP: 'mqttUrl', WebSocket: 'webSocketUrl' } as const

/** Every QoS in turn; the last of 1,000 is acked, so that its ack tells of all. */
const qosOf = (value: number): QoS => ([1, 2, 0] as const)[value % 3] ?? 0
const values = Array.from({ length: writes }, (_, value) => value)
const body = (value: number) => ({ values: [{ key: 'n', value }] })

/** The writes of the values 0 to 999 with these tokens in turn; the packet id of a value is the value + 1. */
function publishes(...tokens: readonly string[]): Packet[] {
  return values.map(value => {
    const topic = `things/${tokens[value % tokens.length]}/write`
    return publishPacket(topic, body(value), { qos: qosOf(value), messageId: value + 1 })
  })
}

const expectedAcks = values
  .filter(value => qosOf(value) > 0)
  .map(value => `${qosOf(value) === 1 ? 'puback' : 'pubrec'} ${value + 1}`)

const lastIsAcked = (client: MqttClient) => client.next(isOf('puback', writes))

async function stored(service: MqttService, thing: Thing): Promise<unknown[]> {
  return (await readAll(service, thing, 'n')).map(({ value }) => value).toReversed()
}

async function addToken({ url, adminKey }: MqttService, { thingId }: Thing): Promise<string> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const response = await fetch(`${url}/v2/admin/things/${thingId}/tokens`, { method: 'POST', headers })
  const { thingToken } = (await response.json()) as Thing
  return thingToken
}

const ways = {
  'in one segment': async (url: string, { thingToken }: Thing, packets: Packet[]) => {
    const client = await connectMqtt({ url, deadline, username: thingToken })
    client.sendBytes(encodePackets(...packets))
    return client
  },
  'in segments of one packet': async (url: string, { thingToken }: Thing, packets: Packet[]) => {
    const client = await connectMqtt({ url, deadline, username: thingToken })
    await sendOneByOne(client, packets)
    return client
  },
  'in the segment of a CONNECT that resumes a session': async (
    url: string,
    { thingId, thingToken }: Thing,
    packets: Packet[],
  ) => {
    const session = {
      url,
      deadline,
      clientId: 'device',
      clean: false,
      username: 'device',
      password: thingToken,
    }
    const before = await connectMqtt(session)
    expect(await before.subscribe(`things/${thingId}/errors`)).toBe(1)
    await before.disconnect()
    const client = await connectMqtt({ ...session, pipelined: packets })
    expect(client.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
    return client
  },
}

async function sendOneByOne(client: MqttClient, packets: readonly Packet[]): Promise<void> {
  for (const packet of packets) {
    client.send(packet)
    await new Promise(resolve => setImmediate(resolve))
  }
}

describe.each(Object.entries(services))('the MQTT door on %s', (_service, startService) => {
  describe.each(Object.entries(transports))('over %s', (_transport, address) => {
    it.each(Object.entries(ways))(
      'stores and acks 1,000 writes of mixed QoS in order that come %s',
      async (_way, send) => {
        const service = await startService()
        const thing = await createThing(service)
        const client = await send(service[address], thing, publishes(thing.thingToken))
        await lastIsAcked(client)
        expect(client.acknowledgements).toEqual(expectedAcks)
        expect(await stored(service, thing)).toEqual(values)
        await client.disconnect()
      },
    )

    it('stores 1,000 writes in order that come with several tokens of the thing, some of them new', async () => {
      const service = await startService()
      const thing = await createThing(service)
      const others = [await addToken(service, thing), await addToken(service, thing)]
      const client = await connectMqtt({ url: service[address], deadline })
      // From now on this token is known without asking the store.
      await client.publish(`things/${thing.thingToken}/write`, body(-1), { messageId: 2_000 })
      client.sendBytes(encodePackets(...publishes(thing.thingToken, ...others)))
      await lastIsAcked(client)
      expect(client.acknowledgements).toEqual(['puback 2000', ...expectedAcks])
      expect(await stored(service, thing)).toEqual([-1, ...values])
      await client.disconnect()
    })

    it('stores 1,000 writes to several things by a connection without a credential in order, and acks them in order', async () => {
      const service = await startService()
      const things = [await createThing(service), await createThing(service), await createThing(service)]
      const client = await connectMqtt({ url: service[address], deadline })
      client.sendBytes(encodePackets(...publishes(...things.map(({ thingToken }) => thingToken))))
      await lastIsAcked(client)
      expect(client.acknowledgements).toEqual(expectedAcks)
      for (const [place, thing] of things.entries()) {
        expect(await stored(service, thing)).toEqual(values.filter(value => value % things.length === place))
      }
      await client.disconnect()
    })
  })
})

describe.each(Object.entries(transports))('the MQTT door over %s', (_transport, address) => {
  it('keeps order and acks when PUBREL, SUBSCRIBE, PINGREQ and refused writes stand in between', async () => {
    const service = await startSlowService({ after: () => delay(Math.random() * 20) })
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service[address], deadline })
    const [first, second, ...others] = publishes(thing.thingToken)
    if (!first || !second) throw new Error('no packets')
    client.send(first, second)
    await client.next(isOf('pubrec', 2))
    const topic = `things/${thing.thingToken}`
    const bad = { ...body(0), values: [{ key: 'not a key', value: 0 }] }
    const between: Packet[] = [
      { cmd: 'pubrel', messageId: 2 },
      { cmd: 'subscribe', messageId: 2_000, subscriptions: [{ topic: `${topic}/errors`, qos: 0 }] },
      publishPacket(`${topic}/write`, bad, { qos: 1, messageId: 3_000 }),
      publishPacket(`${topic}/write`, bad, { qos: 2, messageId: 3_001 }),
      { cmd: 'pingreq' },
    ]
    client.sendBytes(encodePackets(...others.slice(0, 500), ...between, ...others.slice(500)))
    await lastIsAcked(client)
    await client.next(isOf('pubcomp', 2))
    await client.next(isOf('suback', 2_000))
    await client.next(isOf('pingresp'))
    const ackedBefore = values.slice(0, 502).filter(value => qosOf(value) > 0).length
    const expected = expectedAcks.toSpliced(ackedBefore, 0, 'puback 3000', 'pubrec 3001')
    expect(client.acknowledgements.filter(ack => ack !== 'pubcomp 2')).toEqual(expected)
    expect(await stored(service, thing)).toEqual(values)
    await client.disconnect()
  })

  it('stores a QoS 2 write once that is resent while its first copy waits for the store', async () => {
    const gate = createGate()
    const service = await startSlowService(gate)
    const thing = await createThing(service)
    const client = await connectMqtt({ url: service[address], username: thing.thingToken })
    const topic = `things/${thing.thingToken}/write`
    const first = { qos: 2, messageId: 1 } as const
    client.send(publishPacket(topic, body(0), first))
    await service.store.called(1)
    client.send(publishPacket(topic, body(0), { ...first, dup: true }))
    client.send(publishPacket(topic, body(1), { qos: 2, messageId: 2 }))
    await service.store.called(2)
    gate.open()
    await client.next(isOf('pubrec', 2))
    await client.release(1)
    await client.release(2)
    expect(new Set(client.acknowledgements.slice(0, -3))).toEqual(new Set(['pubrec 1']))
    expect(client.acknowledgements.slice(-3)).toEqual(['pubrec 2', 'pubcomp 1', 'pubcomp 2'])
    expect(await stored(service, thing)).toEqual([0, 1])
    await client.disconnect()
  })

  it('stores in order what comes before CONNACK is sent, and what comes after', async () => {
    const service = await startSlowService({ after: () => delay(Math.random() * 20) })
    const thing = await createThing(service)
    const packets = publishes(thing.thingToken)
    const client = await openMqtt({ url: service[address], deadline })
    const connected = client.connect({ username: thing.thingToken, pipelined: packets.slice(0, 10) })
    await sendOneByOne(client, packets.slice(10))
    await connected
    await lastIsAcked(client)
    expect(client.acknowledgements).toEqual(expectedAcks)
    expect(await stored(service, thing)).toEqual(values)
    await client.disconnect()
  })
})
