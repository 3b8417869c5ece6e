import mqtt from 'mqtt'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { formatDatetime, parseDatetime } from '../../src/core/record/datetime.ts'
import { sourceRules } from '../../src/formats/registry.ts'
import { type Sample, samples } from '../formats/samples.ts'
import { ask } from '../helpers/http-client.ts'
import { DoorService } from '../mqtt/door-service.ts'

interface Read {
  readonly value: unknown
  readonly datetime: string
}

/** Every sample that is published on topics, with the formats that a source has: those of a house all together. */
const rows = [...sourceRules.defaultFormats, 'owntracks', 'chirpstack', 'ttn', 'levels'].flatMap(name =>
  (samples.get(name) ?? [])
    .filter(({ messages }) => messages.every(({ post }) => !post))
    .map(sample => [name, sample.name, sample] as const),
)

describe.each([4, 5] as const)('what devices publish, over MQTT version %i', protocolVersion => {
  let service: DoorService
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = []
    service = await DoorService.start({ onEnd: close => ends.push(close) })
    return async () => {
      for (const end of ends.reverse()) await end()
    }
  })

  it.each(rows)('%s: %s', async (name, _, sample) => {
    const isOfHouse = sourceRules.defaultFormats.includes(name)
    const { pattern } = sample as Sample & { readonly pattern?: string }
    const { sourceId, sourceToken } = await service.things.sources.create({
      ...{ name, overlap: true, topics: ['#'] },
      ...(!isOfHouse && { formats: [name], ...(pattern !== undefined && { pattern }) }),
    })
    const login = { username: sourceToken, protocolVersion }
    const device = await mqtt.connectAsync(service.mqttUrl, login, false)
    onTestFinished(() => device.endAsync(true))
    for (const { topic = '', payload } of sample.messages)
      await device.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), {
        qos: 1,
      })
    const { things } = await service.things.registry.list({ limit: 100, sourceId })
    const devices = Object.entries(sample.expect).filter(([, { records }]) => records.length > 0)
    expect(things.map(({ source }) => source?.device).toSorted()).toEqual(
      devices.map(([device]) => device).toSorted(),
    )
    for (const { thingId, name: thingName, source } of things) {
      const { records, resources, name } = sample.expect[source?.device ?? ''] ?? { records: [] }
      if (name !== undefined) expect(thingName).toBe(name)
      for (const key of new Set(records.map(({ key }) => key))) {
        const path = `/v2/things/${thingId}/resources/${key}?order=asc&limit=1000`
        const read = await ask<readonly Read[]>(service, 'GET', path)
        const sent = records.filter(record => record.key === key)
        const wanted = sent.map(expected)
        const times = new Set(wanted.map(({ datetime }) => datetime))
        const found = read.map(({ value, datetime }) => ({
          value,
          datetime: times.has(datetime) ? datetime : 'receipt',
        }))
        expect(found.map(shown).toSorted()).toEqual(wanted.map(shown).toSorted())
      }
      if (resources && Object.keys(resources).length > 0)
        await expect.poll(() => describedAs(service, thingId)).toMatchObject(resources)
    }
  })
})

function shown({ value, datetime }: Read): string {
  return `${JSON.stringify(value)} ${datetime}`
}

/** As the record reads back: a position as a point. */
function expected({ value, datetime, geo }: Sample['expect'][string]['records'][number]): Read {
  const point = geo ? { type: 'Point', coordinates: [geo.long, geo.lat] } : value
  const at = datetime === undefined ? 'receipt' : formatDatetime(parseDatetime(datetime) ?? Number.NaN)
  return { value: point, datetime: at }
}

async function describedAs(service: DoorService, thingId: string): Promise<unknown> {
  const state = await service.things.records.state(thingId, '$meta')
  return state && JSON.parse(state.value)
}
