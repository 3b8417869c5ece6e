import { describe, expect, it, vi } from 'vitest'
import { type Reason, ThingwireError } from '../../../src/errors.ts'
import { alterAppends } from '../../helpers/altered-driver.ts'
import { type Thing, write } from '../../helpers/http-client.ts'
import { isMessageOn, isOf, type MqttClient, type Payload, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, type DoorServiceOptions, reading, writeTopicOf } from '../door-service.ts'

/** The column MQTT 5 of docs/reference/errors.md, as its packets show it. */

const version5 = { protocolVersion: 5 } as const
const everything = (['read', 'write'] as const).map(access => ({ filter: 'house/#', access }))

async function start(options: DoorServiceOptions = {}) {
  const service = await DoorService.start(options)
  const thing = await service.createThing()
  const client = await service.connectThing(thing, version5)
  return { service, thing, client, topic: writeTopicOf(thing.thingId) }
}

/** Code and User Properties of the ack of a PUBLISH at QoS 1 or 2. */
async function ackOf(client: MqttClient, topic: string, payload: Payload, qos: 1 | 2 = 1) {
  const messageId = client.nextMessageId()
  client.send(publishPacket(topic, payload, { qos, messageId }))
  const ack = await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', messageId))
  return [ack.reasonCode, ack.properties?.userProperties?.reason, ack.properties?.userProperties?.retryable]
}

/** The DISCONNECT that is the last packet of a connection. */
async function disconnectOf(client: MqttClient) {
  await client.untilClosed()
  const last = client.received.at(-1)
  if (last?.cmd !== 'disconnect') return [last?.cmd]
  return [
    last.reasonCode,
    last.properties?.userProperties?.reason,
    last.properties?.userProperties?.retryable,
  ]
}

const record = (value: unknown) => ({ values: [value] })
const refusedBodies: readonly (readonly [Reason, Payload, number])[] = [
  ['invalid_utf8', Buffer.from([0xff]), 0x99],
  ['invalid_json', '{', 0x99],
  ['invalid_body', '[]', 0x99],
  ['invalid_values', { values: [] }, 0x83],
  ['too_many_records', { values: Array.from({ length: 10_001 }, () => ({ key: 'n', value: 1 })) }, 0x97],
  ['invalid_flag', { ...reading(1), store: 1 }, 0x83],
  ['invalid_write_id', { ...reading(1), id: '' }, 0x83],
  ['forbidden_member', record({ key: 'n', value: JSON.parse('{"__proto__":1}') }), 0x83],
  ['invalid_record', record(1), 0x83],
  ['invalid_key', reading(1, 'a b'), 0x83],
  ['unknown_magic_resource', reading(1, '$battery'), 0x83],
  ['invalid_value', record({ key: 'n' }), 0x83],
  ['number_out_of_range', '{"values":[{"key":"n","value":1e999}]}', 0x83],
  ['value_too_large', reading('x'.repeat(65_536)), 0x97],
  ['value_too_deep', reading(JSON.parse('['.repeat(33) + ']'.repeat(33))), 0x83],
  ['invalid_geo', record({ key: 'n', value: 1, geo: { lat: 91, long: 0 } }), 0x83],
  ['invalid_datetime', record({ key: 'n', value: 1, datetime: 'today' }), 0x83],
  ['datetime_out_of_range', record({ key: 'n', value: 1, datetime: '19691231235959' }), 0x83],
  ['invalid_position', reading([181, 0], '$geo'), 0x83],
  ['invalid_settings', reading(1, '$settings'), 0x83],
  ['invalid_settings_path', reading(1, '$settings.a..b'), 0x83],
]

describe('the ack of a write that is refused for', () => {
  it.each(refusedBodies)('%s has its code', async (reason, body, code) => {
    const { client, topic } = await start()
    for (const qos of [1, 2] as const)
      expect(await ackOf(client, topic, body, qos)).toEqual([code, reason, 'no'])
  })

  it('settings_too_large says that it is taken: the check comes behind it, and errors says so', async () => {
    const { thing, client, topic } = await start()
    await client.subscribe(`things/${thing.thingId}/errors`)
    const part = 'x'.repeat(40_000)
    for (const name of ['a', 'b'])
      expect(await ackOf(client, topic, reading(part, `$settings.${name}`))).toEqual([
        0,
        undefined,
        undefined,
      ])
    const { payload } = await client.next(isMessageOn(`things/${thing.thingId}/errors`))
    expect(JSON.parse(payload.toString())).toMatchObject({ reason: 'settings_too_large' })
  })
})

describe('the ack of a write that its sender may not make has 0x87', () => {
  type Stage = Awaited<ReturnType<typeof start>>
  const rows: Readonly<
    Record<
      string,
      (stage: Stage) => readonly [client: Promise<MqttClient>, ref: string | Promise<string>, reason: Reason]
    >
  > = {
    'of a session that may only read': ({ service, thing }) => [
      service.connectSession([thing], 'read', version5 as object),
      thing.thingId,
      'not_a_write_topic',
    ],
    'of another thing': ({ service, client }) => [
      Promise.resolve(client),
      service.createThing().then(({ thingId }) => thingId),
      'not_a_write_topic',
    ],
    'without a credential, under the id of a thing': ({ service, thing }) => [
      service.connect(version5),
      thing.thingId,
      'missing_credential',
    ],
    'under an unknown token': ({ service }) => [
      service.connect(version5),
      'x'.repeat(43),
      'unknown_thing_token',
    ],
  }

  it.each(Object.entries(rows))('%s', async (_, row) => {
    const stage = await start()
    const [connecting, ref, reason] = row(stage)
    const client = await connecting
    for (const qos of [1, 2] as const)
      expect(await ackOf(client, writeTopicOf(await ref), reading(1), qos)).toEqual([0x87, reason, 'no'])
    expect(await stage.service.values(stage.thing, 'n')).toEqual([])
  })
})

/** More than half a minute of debt of a thing that may write one record a second. */
async function owe({ service, thing }: { service: DoorService; thing: Thing }): Promise<void> {
  const values = Array.from({ length: 1_000 }, (_, value) => ({ key: 'debt', value }))
  expect((await write(service, thing, { values })).status).toBe(201)
}

describe('a write that can succeed later ends the connection, without an ack, with a DISCONNECT for', () => {
  it.each([1, 2] as const)('the rate of records at QoS %i', async qos => {
    const slow = await start({ limits: { recordsPerSecond: 1 } })
    await owe(slow)
    slow.client.send(publishPacket(slow.topic, reading(1), { qos, messageId: 1 }))
    expect(await disconnectOf(slow.client)).toEqual([0x96, 'record_rate_exceeded', 'yes'])
    expect(slow.client.acknowledgements).toEqual([])
  })

  it.each([
    ['a write', 1],
    ['a write', 2],
    ['a message on another topic', 1],
    ['a message on another topic', 2],
  ] as const)('the rate of %s at QoS %i', async (kind, qos) => {
    const service = await DoorService.start({ limits: { writesPerSecond: 1 }, topics: ['house/#'] })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, everything)
    const [topic, body] = kind === 'a write' ? [writeTopicOf(thing.thingId), reading(1)] : ['house/a', 'x']
    // An ack waits for those before it on its connection, so each waits on a connection of its own.
    const connect = () => service.connectThing(thing, version5)
    const clients = await Promise.all(Array.from({ length: 50 }, connect))
    for (const client of clients) client.send(publishPacket(topic, body, { qos, messageId: 1 }))
    const refused = await Promise.race(clients.map(disconnectOf))
    expect(refused).toEqual([0x96, 'write_rate_exceeded', 'yes'])
  })

  it.each<[Reason | 'a defect', number]>([
    ['too_many_waiting', 0x89],
    ['store_timeout', 0x89],
    ['store_unavailable', 0x89],
    ['store_full', 0x97],
    ['internal_error', 0x80],
    ['a defect', 0x80],
  ])('%s', async (reason, code) => {
    const fails = async () => {
      throw reason === 'a defect' ? new Error('secret') : new ThingwireError(reason)
    }
    for (const qos of [1, 2] as const) {
      const { client, topic } = await start({ alter: store => alterAppends(store, () => fails) })
      client.send(publishPacket(topic, reading(1), { qos, messageId: 1 }))
      const said = reason === 'a defect' ? [code, undefined, undefined] : [code, reason, 'yes']
      expect(await disconnectOf(client)).toEqual(said)
      expect(client.acknowledgements).toEqual([])
      expect(JSON.stringify(client.received)).not.toContain('secret')
    }
  })
})

describe('a DISCONNECT of the server says', () => {
  it('0x87 if topics were withdrawn', async () => {
    const service = await DoorService.start({ topics: ['house/#'] })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, everything)
    const client = await service.connectThing(thing, version5)
    await service.things.registry.setTopics(thing.thingId, [])
    expect(await disconnectOf(client)).toEqual([0x87, undefined, undefined])
  })

  it('0xa0 if a client without a credential has used no token for 60 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const service = await DoorService.start()
      const client = await service.connect(version5)
      vi.advanceTimersByTime(60_000)
      expect(await disconnectOf(client)).toEqual([0xa0, undefined, undefined])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('a CONNACK', () => {
  it('says 0x9f to an address of too many unknown credentials', async () => {
    const service = await DoorService.start({ limits: { failedCredentialsPerMinute: 1 } })
    const codeOf = async (password: string) =>
      (await service.connect({ ...version5, username: 'x', password })).connack.reasonCode
    expect([await codeOf('y'), await codeOf('y')]).toEqual([0x86, 0x9f])
    const { thingToken } = await service.createThing()
    expect(await codeOf(thingToken)).toBe(0)
  })

  it('that refuses is on the list of the thing with the code that the client got', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const will = { topic: 'elsewhere', payload: 'x' }
    expect((await service.connectThing(thing, { ...version5, will })).connack.reasonCode).toBe(0x87)
    await expect
      .poll(() => service.things.refused.list(thing.thingId, 10))
      .toMatchObject([
        { reason: 'connect_refused', message: expect.stringMatching(/^CONNACK 0x87: the will/) },
      ])
  })
})

describe('what a client gets that takes packets of 30 bytes', () => {
  const properties = { maximumPacketSize: 30 }
  const small = { ...version5, properties } as const

  it('has no Reason String in CONNACK', async () => {
    const service = await DoorService.start()
    const refused = await service.connect({ ...small, username: 'x', password: 'y' })
    expect(refused.connack.reasonCode).toBe(0x86)
    expect(refused.connack.properties?.reasonString).toBeUndefined()
  })

  it.each([1, 2] as const)(
    'has no reasons in the ack of QoS %i, nor what a partial write left out',
    async qos => {
      const { service, thing, topic } = await start()
      const client = await service.connectThing(thing, small)
      const body = { ...reading(1), partial: true }
      const partial = { ...body, values: [...body.values, { key: 'a b', value: 1 }] }
      for (const [payload, code] of [
        ['x', 0x99],
        [partial, 0],
      ] as const) {
        const messageId = client.nextMessageId()
        client.send(publishPacket(topic, payload, { qos, messageId }))
        const ack = await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', messageId))
        expect([ack.reasonCode, ack.properties]).toEqual([code, undefined])
      }
      expect(await service.values(thing, 'n')).toEqual([1])
    },
  )

  it('has no reasons in DISCONNECT', async () => {
    const stage = await start({ limits: { recordsPerSecond: 1 } })
    await owe(stage)
    const client = await stage.service.connectThing(stage.thing, small)
    client.send(publishPacket(stage.topic, reading(1), { messageId: 1 }))
    await client.untilClosed()
    const last = client.received.at(-1)
    expect(last).toMatchObject({ cmd: 'disconnect', reasonCode: 0x96 })
    expect(last).not.toHaveProperty('properties.reasonString')
  })

  it('is no retained message and no answer that is larger', async () => {
    const { service, thing, client: writer, topic } = await start()
    await writer.publish(topic, reading(1))
    const client = await service.connectThing(thing, small)
    await client.subscribe(`things/${thing.thingId}/#`)
    await client.publish(topic, reading(2), {
      properties: { responseTopic: `things/${thing.thingId}/answers` },
    })
    await client.ping()
    expect(client.received.filter(isOf('publish'))).toEqual([])
  })
})

describe('Request Problem Information 0', () => {
  it.each([1, 2] as const)(
    'leaves the reasons off the ack of QoS %i, and what a partial write left out',
    async qos => {
      const { service, thing, topic } = await start()
      const properties = { requestProblemInformation: false }
      const client = await service.connectThing(thing, { ...version5, properties })
      const partial = { values: [...reading(1).values, { key: 'a b', value: 1 }], partial: true }
      for (const payload of ['x', partial]) {
        const messageId = client.nextMessageId()
        client.send(publishPacket(topic, payload, { qos, messageId }))
        const ack = await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', messageId))
        expect(ack.properties).toBeUndefined()
      }
    },
  )
})
