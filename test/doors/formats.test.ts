import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Reason } from '../../src/errors.ts'
import { isOf, type Payload, type PublishOptions, publishPacket } from '../helpers/mqtt-client.ts'
import { DoorService, type DoorServiceOptions, topicsReceived, writeTopicOf } from '../mqtt/door-service.ts'

const version5 = { protocolVersion: 5 } as const

async function start(options: DoorServiceOptions = {}) {
  const service = await DoorService.start(options)
  const thing = await service.createThing()
  const post = async (
    format: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => {
    const url = `${service.url}/v2/things/${thing.thingToken}${format}`
    const response = await fetch(url, { method: 'POST', body, headers })
    const answer = (await response.json()) as { reason?: Reason; message: string; rejected?: object[] }
    return { ...answer, status: response.status }
  }
  const resources = async () => {
    const response = await fetch(`${service.url}/v2/things/${thing.thingToken}/resources`)
    return ((await response.json()) as { resources: string[] }).resources
  }
  const refusals = () => service.things.refused.list(thing.thingId, 100)
  return { service, thing, topic: writeTopicOf(thing.thingToken), post, resources, refusals }
}

describe('POST …/write/<format>', () => {
  it('takes the flags of a query', async () => {
    const { service, thing, post } = await start()
    const witness = await service.connectThing(thing)
    await witness.subscribe(`things/${thing.thingId}/values/n`)
    await post('/write/value/n?store=false', '1')
    await post('/write/value/n?broadcast=false', '2')
    await post('/write/value/n', '3')
    expect(await service.values(thing, 'n')).toEqual([2, 3])
    const seen = [await witness.next(isOf('publish')), await witness.next(isOf('publish'))]
    expect(seen.map(({ payload }) => JSON.parse(payload.toString()).value)).toEqual([1, 3])
    expect(await post('/write/value/n?store=maybe', '4')).toMatchObject({ reason: 'invalid_query' })
  })

  it('names what a partial write left out by its place among the records', async () => {
    const { service, thing, post, resources } = await start()
    const body = JSON.stringify({ none: null, n: 1, m: 'x'.repeat(64 * 1024) })
    expect(await post('/write/json', body)).toMatchObject({ status: 400, reason: 'value_too_large' })
    expect(await resources()).toEqual([])
    const { status, rejected } = await post('/write/json?partial=true', body)
    expect(status).toBe(201)
    expect(rejected).toMatchObject([{ index: 1, field: 'value', reason: 'value_too_large' }])
    expect(await service.values(thing, 'n')).toEqual([1])
    expect(await resources()).toEqual(['n'])
  })

  it('takes a write under its Idempotency-Key once', async () => {
    const { service, thing, post } = await start()
    for (const value of ['1', '2', '{"no":"bare value"}'])
      expect((await post('/write/value/n', value, { 'idempotency-key': 'a' })).status).toBe(201)
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('takes gzip, and any Content-Type but a binary one', async () => {
    const { service, thing, post } = await start()
    await post('/write/value/n', new Uint8Array(gzipSync('1')), { 'content-encoding': 'gzip' })
    await post('/write/value/n', '2', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(await service.values(thing, 'n')).toEqual([1, 2])
    const headers = { 'content-type': 'application/msgpack' }
    expect(await post('/write/value/n', '3', headers)).toMatchObject({ reason: 'unsupported_media_type' })
  })

  it.each([
    ['cellar/air/temperature', 'cellar.air.temperature'],
    ['cellar%2Fair', 'cellar.air'],
    ['my%20cellar/%C3%A4', 'my_cellar._'],
    ['cellar//air/', 'cellar.air'],
    ['%24geo', '_geo'],
  ])('makes of the levels %s the key %s', async (levels, key) => {
    const { post, resources } = await start()
    expect(await post(`/write/value/${levels}`, '1')).toMatchObject({ status: 201 })
    expect(await resources()).toEqual([key])
  })

  it('refuses levels that are not UTF-8, and an address without a format', async () => {
    const { post, resources } = await start()
    expect((await post('/write/value/%ff', '1')).status).toBe(400)
    expect(await post('/write', '1')).toMatchObject({ status: 404, reason: 'not_found' })
    expect(await resources()).toEqual([])
  })
})

describe('a message without a reading', () => {
  const silent = [
    ['value/n', ''],
    ['value/n', 'unavailable'],
    ['json', '{"n":null,"m":"NaN"}'],
    ['influx', '# nothing'],
  ] as const

  it('is acknowledged through each door, and neither stored nor sent', async () => {
    const { service, thing, topic, post, resources, refusals } = await start()
    const client = await service.connectThing(thing, { clientId: 'sensor', clean: false })
    await client.subscribe(`things/${thing.thingId}/values/#`)
    await client.subscribe(`v2/things/${thing.thingId}`)
    for (const [format, body] of silent) {
      expect((await post(`/write/${format}`, body)).status).toBe(201)
      for (const qos of [0, 1, 2] as const) await client.publish(`${topic}/${format}`, body, { qos })
    }
    client.send(publishPacket(`${topic}/value/n`, '', { qos: 2, messageId: 99 }))
    await client.publishUntilPubrec(`${topic}/value/n`, '', { messageId: 99, dup: true })
    await client.release(99)
    await client.publish(`${topic}/value/n`, '1')
    await client.next(isOf('publish'))
    await client.next(isOf('publish'))
    expect(topicsReceived(client).toSorted()).toEqual([
      `things/${thing.thingId}/values/n`,
      `v2/things/${thing.thingId}`,
    ])
    expect(await resources()).toEqual(['n'])
    expect(await service.values(thing, 'n')).toEqual([1])
    expect(await refusals()).toEqual([])
  })

  it('counts towards the rate of writes', async () => {
    const { post } = await start({ limits: { writesPerSecond: 1 } })
    const answers = await Promise.all(Array.from({ length: 100 }, () => post('/write/value/n', 'null')))
    expect(answers.map(({ reason }) => reason)).toContain('write_rate_exceeded')
  })
})

it('each record of a format counts towards the rate of records', async () => {
  const { post } = await start({ limits: { recordsPerSecond: 1 } })
  const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, place) => [`m${place}`, place]))
  expect((await post('/write/json', JSON.stringify(members))).status).toBe(201)
  expect(await post('/write/value/n', '1')).toMatchObject({ reason: 'record_rate_exceeded' })
})

describe('a PUBLISH in a format', () => {
  it('sent again with DUP at QoS 2 is a resend if format, levels and payload are the same', async () => {
    const { service, thing, topic } = await start()
    const session = { clientId: 'sensor', clean: false }
    const before = await service.connectThing(thing, session)
    await before.publishUntilPubrec(`${topic}/value/n`, '1', { messageId: 7 })
    await before.destroy()
    const client = await service.connectThing(thing, session)
    const again = { messageId: 7, dup: true }
    const byId = writeTopicOf(thing.thingId)
    await client.publishUntilPubrec(`${byId}/value/n`, '1', again)
    expect(await service.values(thing, 'n')).toEqual([1])
    await client.publishUntilPubrec(`${byId}/value/n/m`, '1', again)
    await client.publishUntilPubrec(`${byId}/json/n`, '1', again)
    await client.publishUntilPubrec(`${byId}/json/n`, '1', again)
    await client.release(7)
    expect(await service.values(thing, 'n.m')).toEqual([1])
    expect(await service.values(thing, 'n')).toEqual([1, 1])
  })

  it('with RETAIN is stored, and not retained', async () => {
    const { service, thing, topic } = await start({ topics: ['house/#'] })
    const client = await service.connectThing(thing)
    await client.publish(`${topic}/value/n`, '1', { retain: true })
    expect(await service.values(thing, 'n')).toEqual([1])
    await client.subscribe(`things/${thing.thingId}/#`)
    await client.publish(`${topic}/value/m`, '2')
    await client.next(packet => packet.cmd === 'publish' && packet.topic.endsWith('/values/m'))
    expect(topicsReceived(client).filter(name => name.includes('/write'))).toEqual([])
  })

  it.each<[string, Payload, number, Reason]>([
    ['senml', '[]', 0x99, 'unknown_format'],
    ['influx', 'no line', 0x99, 'invalid_lines'],
    ['json', '{', 0x99, 'invalid_json'],
    ['value', '1', 0x83, 'invalid_key'],
    ['value/n', '1e999', 0x83, 'number_out_of_range'],
  ])(
    'in version 5 to …/%s with %s is refused with %s in its ack and its answer',
    async (format, body, code, reason) => {
      const { service, thing, topic, refusals } = await start()
      const client = await service.connectThing(thing, version5)
      const responseTopic = `things/${thing.thingId}/answers`
      await client.subscribe(responseTopic)
      client.send(publishPacket(`${topic}/${format}`, body, { messageId: 7, properties: { responseTopic } }))
      const ack = await client.next(isOf('puback', 7))
      expect(ack).toMatchObject({ reasonCode: code, properties: { userProperties: { reason } } })
      const answer = await client.next(isOf('publish'))
      expect(JSON.parse(answer.payload.toString())).toMatchObject({ status: 'error', reason })
      expect(await refusals()).toMatchObject([{ reason, door: 'mqtt' }])
    },
  )

  it('in version 5 has flags, write id and answer in its properties', async () => {
    const { service, thing, topic } = await start()
    const client = await service.connectThing(thing, version5)
    const responseTopic = `things/${thing.thingId}/answers`
    await client.subscribe(responseTopic)
    const publish = (body: Payload, userProperties: Record<string, string>, more: PublishOptions = {}) =>
      client.publish(`${topic}/value/n`, body, { properties: { userProperties, responseTopic }, ...more })
    await publish('1', { store: 'false' })
    await publish('2', { broadcast: 'false', id: 'a' })
    await publish('3', { id: 'a' }, { qos: 2 })
    await publish('4', { store: 'false', broadcast: 'false' })
    for (let count = 0; count < 4; count++) {
      const { payload } = await client.next(isOf('publish'))
      expect(JSON.parse(payload.toString())).toEqual({ status: 'created', message: 'created' })
    }
    expect(await service.values(thing, 'n')).toEqual([2])
  })
})

describe('the refusal of a plain write', () => {
  it.each([
    ['{"temperature":21.5,"hidden":"hidden"}', 'write/json'],
    ['[{"temperature":21.5},{"temperature":22}]', 'write/json'],
    ['weather,place=hidden temperature=21.5 1465839830100400200', 'write/influx'],
    ['21.5', 'write/value/<key>'],
    ['hidden', 'write/value/<key>'],
    ['null\n', 'write/value/<key>'],
  ])('of %s names the address that takes it', async (body, end) => {
    const { service, thing, topic, post, refusals } = await start()
    const { status, message } = await post('', body)
    expect(status).toBe(400)
    expect(message).toMatch(new RegExp(`\\. For a body like this, the address ends in /${end}$`))
    expect(message).not.toContain('hidden')
    const client = await service.connectThing(thing)
    await client.publish(topic, body)
    expect((await refusals()).map(refusal => refusal.message)).toEqual([message, message])
  })

  it.each([
    ['a record without `values`', '{"key":"temperature","value":21.5}'],
    ['records without `values`', '[{"key":"temperature","value":21.5}]'],
    ['no records', '{"values":[]}'],
    ['records in an object', '{"values":{"temperature":21.5}}'],
    ['no reading', '{"temperature":null}'],
    ['broken JSON', '{"temperature":21.5'],
    ['a sentence', 'it is warm'],
    ['a form', 'temperature=21.5&humidity=40'],
    ['nothing', ' '],
    ['a large body', JSON.stringify({ text: 'x'.repeat(16 * 1024) })],
    ['a bad record', '{"values":[{"key":"a b","value":1}]}'],
  ])('of %s names no other address', async (_, body) => {
    const { post } = await start()
    const { status, message } = await post('', body)
    expect(status).toBe(400)
    expect(message).not.toContain('the address ends')
  })
})
