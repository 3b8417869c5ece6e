import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type ParsedWrite, parseWrite, WriteRefused } from '../../src/core/parse.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { matches, type SentRecord, unsaid } from './case-table.ts'
import { openMqttWriter, writerVariants } from './mqtt-writer.ts'
import { ReadBack, type ReadRecord, type RefusedWrite } from './read-back.ts'
import { type Service, startService } from './service.ts'

// Generated write bodies: some valid, some half valid, some no write at all, with names and times that meet again.
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 })

function mostly<T, Other>(arbitrary: fc.Arbitrary<T>, other: fc.Arbitrary<Other>, weight: number) {
  return fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: other })
}

const anyJson = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' })

const ordinaryKey = fc.constantFrom('temperature', 'temperature.max', 'Temperature', '0-_')
const badKey = fc.constantFrom<unknown>('', 'room temperature', '$', '$state', '$settings.a..b', 7, null)

const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const value = mostly(
  fc.oneof(number, fc.string({ unit: 'binary', maxLength: 20 }), fc.boolean(), fc.constantFrom(1, 'on')),
  fc.oneof(anyJson, fc.constantFrom({ a: { constructor: 1 } }, null)),
  6,
)

/** A coordinate in numbers or strings; the bound itself, and what is just beyond, among them. */
const coordinate = (bound: number) =>
  mostly(
    fc.oneof(
      fc.double({ min: -bound, max: bound, noNaN: true }),
      fc.constantFrom(bound, -bound),
      fc.double({ min: 0.001, max: bound, noNaN: true }).map(degrees => degrees.toFixed(5)),
    ),
    fc.constantFrom<unknown>(bound + 0.0001, '1e1', '.5', ' 2', null, true),
    15,
  )
const geo = mostly(fc.record({ lat: coordinate(90), long: coordinate(180) }), anyJson, 15)

/** Few instants, in whole milliseconds, so that records of the same one meet. */
const instant = mostly(
  fc.constantFrom('2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05.678Z', '2026-01-02T00:00:00.000Z'),
  fc
    .date({ min: new Date('1970-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
    .map(date => date.toISOString()),
  2,
)
const spellings: readonly ((iso: string) => string)[] = [
  iso => iso,
  iso => iso.replace('Z', '999999Z'),
  iso => iso.slice(0, -1),
  iso => iso.slice(0, 16),
  iso => iso.slice(0, 19),
  iso => iso.replace(/\.\d+/, ''),
  iso => iso.replace('Z', '+00:00'),
  iso => `${new Date(Date.parse(iso) + 90 * 60_000).toISOString().slice(0, -1)}+01:30`,
  iso => `${new Date(Date.parse(iso) - 60 * 60_000).toISOString().slice(0, -1)}-01:00`,
  iso => iso.replace(/\D/g, '').slice(0, 14),
  iso => iso.replace(/\D/g, ''),
  iso => iso.replace(/[-:]|\..*/g, ''),
]
const badDatetime = fc.constantFrom<unknown>(
  '20250230000000',
  '2026-01-02T24:00:00Z',
  '2026-01-02T03:04:60Z',
  '1969-12-31T23:59:59.999Z',
  '2200-01-01T00:00:00Z',
  '2026-01-02',
  1_767_323_045_000,
  '',
  [],
)
const datetime = mostly(
  fc.tuple(instant, fc.constantFrom(...spellings)).map(([iso, spell]) => spell(iso)),
  badDatetime,
  15,
)

const ordinary = fc.record({
  key: mostly(ordinaryKey, badKey, 15),
  value,
  geo: sometimes(geo),
  datetime: sometimes(datetime),
  unit: sometimes(anyJson),
})
const position = fc.record({
  key: fc.constant('$geo'),
  value: fc.oneof(
    fc.tuple(coordinate(180), coordinate(90)),
    fc.record({ type: fc.constant('Point'), coordinates: fc.tuple(coordinate(180), coordinate(90)) }),
    fc.constantFrom(null, [], 'here'),
  ),
  geo: sometimes(geo),
  datetime: sometimes(datetime),
})
const setting = fc.record({
  key: fc.constantFrom('$settings', '$settings.name', '$settings.limits.high'),
  value: mostly(fc.dictionary(fc.string({ maxLength: 10 }), anyJson, { maxKeys: 3 }), anyJson, 3),
  datetime: sometimes(datetime),
})
const record: fc.Arbitrary<SentRecord | fc.JsonValue> = fc.oneof(
  { weight: 12, arbitrary: ordinary as fc.Arbitrary<SentRecord> },
  { weight: 2, arbitrary: position as fc.Arbitrary<SentRecord> },
  { weight: 2, arbitrary: setting as fc.Arbitrary<SentRecord> },
  { weight: 1, arbitrary: anyJson },
)

const flag = sometimes(mostly(fc.boolean(), anyJson, 15))
const write = fc.record({
  values: mostly(fc.array(record, { minLength: 1, maxLength: 6 }), anyJson, 20),
  store: flag,
  broadcast: flag,
  partial: sometimes(mostly(fc.constantFrom(true, true, false), anyJson, 20)),
  id: sometimes(mostly(fc.constantFrom('w1', 'w2', '~'), fc.oneof(fc.string(), anyJson), 10)),
  other: sometimes(anyJson),
})

const json = write.map(body => JSON.stringify(body))
const noWrite = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
  fc.tuple(json, fc.nat()).map(([text, cut]) => Buffer.from(text.slice(0, cut % text.length))),
  anyJson.map(value => Buffer.from(JSON.stringify(value))),
  json.map(text => Buffer.from(text.replace('{', '{"__proto__":{},'))),
  json.map(text => Buffer.from(text.replaceAll(/\d+/g, '1e999'))),
)

/** The bytes of one write; shown as text where a failure is told. */
const anyWrite: fc.Arbitrary<Buffer> = mostly(
  json.map(text => Buffer.from(text)),
  noWrite,
  10,
).map(body => Object.assign(body, { [fc.toStringMethod]: () => JSON.stringify(body.toString()) }))

/** Every key under which a generated write can be kept though it is not in the list of resources. */
const unlistedKeys = ['$settings', '$settings.name', '$settings.limits.high']

/** On Redis `npm run nodes` has the time for more. */
const runs = inject('store') === 'redis' ? 600 : 200
/** Generated writes of each run, all to one thing. */
const batches = { minLength: 2, maxLength: 4 }
/** Milliseconds, all runs together; a failure found by then is told with its seed and as small as it has got. */
const deadline = 240_000

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

type Refusal = Pick<RefusedWrite, 'reason' | 'message'> & { readonly errors: RefusedWrite['errors'] }

function refusalOf({
  reason,
  message,
  errors,
}: Omit<Refusal, 'errors'> & Pick<RefusedWrite, 'errors'>): Refusal {
  return { reason, message, errors }
}

async function writeOverHttp({ thingToken }: Thing, body: Buffer): Promise<Refusal | undefined> {
  const response = await fetch(`${service.url}/v2/things/${thingToken}`, { method: 'POST', body })
  const answer = await response.json()
  if (response.status === 201) return undefined
  expect(response.status).toBe(400)
  return refusalOf(answer as RefusedWrite)
}

/** Everything that is kept of a thing, less what the doors may differ in: receipt times, and the name of the door. */
async function keptOf(thing: Thing, begun: number) {
  const readBack = new ReadBack(service, thing)
  const [listed, refused] = await Promise.all([readBack.keys(), readBack.refusedWrites()])
  const keys = [...new Set([...listed, ...unlistedKeys])]
  const records = await Promise.all(keys.map(key => readBack.records(key, 'asc')))
  const ended = Date.now()
  return {
    listed,
    records: Object.fromEntries(
      keys.map((key, index) => [key, records[index]?.map(record => withoutReceipt(record, begun, ended))]),
    ),
    refused: refused.map(({ door: _door, datetime: _datetime, ...same }) => same),
    doors: new Set(refused.map(({ door }) => door)),
  }
}

/** No generated datetime is so near to now. */
function withoutReceipt(record: ReadRecord, begun: number, ended: number): ReadRecord {
  const time = Date.parse(record.datetime)
  return time >= begun && time <= ended ? { ...record, datetime: 'receipt' } : record
}

describe('the doors', () => {
  it('keep and refuse the same of the same bytes', async () => {
    const run = fc.record({
      bodies: fc.array(anyWrite, batches),
      qos: fc.constantFrom(0, 1, 2),
      url: fc.constantFrom('mqttUrl', 'webSocketUrl'),
      variant: fc.nat({ max: writerVariants - 1 }),
    })
    let taken = 0
    let refused = 0
    const property = fc.asyncProperty(run, async ({ bodies, qos, url, variant }) => {
      const [ofHttp, ofMqtt] = await Promise.all([createThing(service), createThing(service)])
      const begun = Date.now()
      const writer = await openMqttWriter(service, ofMqtt, { url: service[url], qos, variant })
      try {
        for (const body of bodies) {
          const [overHttp, overMqtt] = await Promise.all([writeOverHttp(ofHttp, body), writer.write(body)])
          expect(overMqtt && refusalOf(overMqtt)).toEqual(overHttp)
          if (overHttp) refused++
          else taken++
        }
        await writer.close()
      } finally {
        await writer.destroy()
      }
      const [keptOfHttp, keptOfMqtt] = await Promise.all([keptOf(ofHttp, begun), keptOf(ofMqtt, begun)])
      expect(keptOfMqtt).toEqual({ ...keptOfHttp, doors: keptOfMqtt.doors })
      expect([...keptOfHttp.doors, ...keptOfMqtt.doors].join()).toMatch(/^(http,mqtt)?$/)
    })
    await fc.assert(property, {
      numRuns: runs,
      interruptAfterTimeLimit: deadline,
      markInterruptAsFailure: true,
    })
    expect(taken + refused).toBeGreaterThanOrEqual(1.6 * runs)
    // Neither kind of generated write is a handful.
    expect(Math.min(taken, refused)).toBeGreaterThan(runs / 3)
  })
})

/** What the documents say of a write, held to the rules themselves; the table of cases holds it to what the doors do. */
describe('the documented shape of a write', () => {
  it('takes and refuses whatever the rules of a write do', () => {
    let [taken, refused] = [0, 0]
    const look = (body: Buffer) => {
      const reasons = reasonsOf(body)
      if (reasons.length === 0) {
        taken++
        expect(matches(body)).toBe(true)
      } else if (reasons.some(reason => !unsaid.has(reason))) {
        refused++
        expect(matches(body)).toBe(false)
      }
    }
    fc.assert(fc.property(anyWrite, look), { numRuns: 2_000 })
    expect(Math.min(taken, refused)).toBeGreaterThan(100)
  })
})

const rules = { options: {}, now: Date.parse('2026-11-21T09:30:00Z'), magic: createMagicRegistry() }

/** Why the rules refuse a write, or records of it. */
function reasonsOf(body: Buffer): readonly string[] {
  try {
    const parsed: ParsedWrite = parseWrite(body, rules)
    return parsed.rejected.map(({ reason }) => reason)
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error
    return (error.errors ?? [error]).map(({ reason }) => reason)
  }
}
