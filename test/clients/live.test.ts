import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { writeBothDoors } from './both-doors.ts'
import { type Message, recordValue } from './client.ts'
import { liveClients } from './clients.ts'

/** What a client that nobody here wrote is sent while it is connected. */

const server = serverOfTests()
const written = 200
const everyQoS = [0, 1, 2] as const

const valuesTopic = (ref: string, key: string) => `things/${ref}/values/${key}`
const isOn = (topic: string) => (message: Message) => message.topic === topic
const parsed = ({ payload }: Message): unknown => JSON.parse(payload)

/** Writes something behind everything else: a client that has it has all that it will get. */
async function writeLast(thing: Thing, values: object[] = [{ key: 'last', value: 'last' }]): Promise<void> {
  expect((await write(server(), thing, { values })).status).toBe(201)
}

describe.each(liveClients)('$name', client => {
  it.each(everyQoS)(
    'at QoS %i sees the present, then what both doors write, in order and once',
    async qos => {
      const thing = await createThing(server())
      const before = [
        { key: 'n', value: -1, datetime: '20251231235959' },
        { key: 'depth', value: 9.8, geo: { lat: 60.1, long: 23.5 } },
        { key: 'state', value: { mode: 'å', ports: [1, 2] } },
      ]
      await write(server(), thing, { values: before })
      const { inbox } = await client.subscribe(server(), {
        filters: [`things/${thing.thingToken}/values/#`],
        qos,
      })
      const deliveredQoS = Math.min(1, qos)
      const retained = await inbox.first(before.length)
      const latest = await Promise.all(before.map(({ key }) => readAll(server(), thing, key)))
      const expected = latest.flat().map(record => ({
        topic: valuesTopic(thing.thingToken, record.key),
        payload: JSON.stringify(record),
        qos: deliveredQoS,
        retain: true,
      }))
      expect(retained).toHaveLength(expected.length)
      expect(retained).toEqual(expect.arrayContaining(expected))

      await writeBothDoors(server(), thing, { from: 0, to: written })
      await writeLast(thing)
      const all = await inbox.until(isOn(valuesTopic(thing.thingToken, 'last')))
      const records = (await readAll(server(), thing, 'n')).toReversed().slice(1)
      expect(records).toHaveLength(written)
      expect(all.slice(before.length, -1)).toEqual(
        records.map(record => ({
          topic: valuesTopic(thing.thingToken, 'n'),
          payload: JSON.stringify(record),
          qos: deliveredQoS,
          retain: false,
        })),
      )
    },
  )

  it('sees each write as it was written, a message a write', async () => {
    const thing = await createThing(server())
    const topic = `v2/things/${thing.thingToken}`
    const { inbox } = await client.subscribe(server(), { filters: [topic], qos: 1 })
    await writeBothDoors(server(), thing, { from: 0, to: written })
    await writeLast(thing, [
      { key: 'last', value: 1 },
      { key: 'last', geo: { lat: '1.5', long: 2 }, datetime: '2026-01-01T00:00:00Z', value: 'two' },
    ])
    const all = await inbox.until(({ payload }) => payload.includes('last'))
    const records = (await readAll(server(), thing, 'n')).toReversed()
    const payloads = records.map(({ value }) => `[{"key":"n","datetime":"20260101000000","value":${value}}]`)
    const last =
      '[{"key":"last","value":1},{"key":"last","geo":{"lat":1.5,"long":2},"datetime":"2026-01-01T00:00:00Z","value":"two"}]'
    expect(all).toEqual([...payloads, last].map(payload => ({ topic, payload, qos: 1, retain: false })))
  })

  it('with the admin key sees every thing, each under its id', async () => {
    const [one, two] = [await createThing(server()), await createThing(server())]
    // Other tests leave things behind.
    const key = one.thingId
    await write(server(), one, { values: [{ key, value: 0 }] })
    const { inbox } = await client.subscribe(server(), {
      filters: [`things/+/values/${key}`],
      qos: 1,
      username: 'operator',
      password: server().adminKey,
    })
    await inbox.first(1)
    const values = [1, 2, 3]
    for (const value of values)
      for (const thing of [one, two]) await write(server(), thing, { values: [{ key, value }] })
    await writeLast(two, [{ key, value: 'last' }])
    const all = await inbox.until(({ payload }) => payload.includes('last'))
    const message = ({ thingId }: Thing, value: unknown, retain = false) => ({
      topic: valuesTopic(thingId, key),
      value,
      retain,
    })
    expect(
      all.map(received => ({ topic: received.topic, value: recordValue(received), retain: received.retain })),
    ).toEqual([
      message(one, 0, true),
      ...values.flatMap(value => [message(one, value), message(two, value)]),
      message(two, 'last'),
    ])
  })

  it('is told the time, and of a write that was refused', async () => {
    const thing = await createThing(server())
    const filters = [`things/${thing.thingToken}/date`, `things/${thing.thingToken}/errors`]
    const { inbox } = await client.subscribe(server(), { filters, qos: 0 })
    await inbox.first(1)
    await write(server(), thing, { values: [{ key: 'not a key', value: 1 }] })
    const [date, refused] = await inbox.first(2)
    expect(date).toMatchObject({ topic: filters[0], retain: true })
    expect(date && parsed(date)).toEqual([
      { key: 'date', value: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/) },
    ])
    expect(refused).toMatchObject({ topic: filters[1], retain: false })
    expect(refused && parsed(refused)).toMatchObject({ door: 'http', errors: [{ reason: 'invalid_key' }] })
  })

  it('is sent nothing live of a write with broadcast=false, and that with store=false', async () => {
    const thing = await createThing(server())
    const topic = valuesTopic(thing.thingToken, 'n')
    const { inbox } = await client.subscribe(server(), { filters: [topic], qos: 1 })
    await write(server(), thing, { values: [{ key: 'n', value: 'not sent' }], broadcast: false })
    await write(server(), thing, { values: [{ key: 'n', value: 'not stored' }], store: false })
    await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
    const all = await inbox.until(({ payload }) => payload.includes('last'))
    expect(all.map(recordValue)).toEqual(['not stored', 'last'])
  })
})
