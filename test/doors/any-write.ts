import fc from 'fast-check'
import type { SentRecord } from './case-table.ts'

/** Generated write bodies: some valid, some half valid, some no write at all, with names and times that meet again. */

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
export const anyWrite: fc.Arbitrary<Buffer> = mostly(
  json.map(text => Buffer.from(text)),
  noWrite,
  10,
).map(body => Object.assign(body, { [fc.toStringMethod]: () => JSON.stringify(body.toString()) }))

/** Every key under which a generated write can be kept though it is not in the list of resources. */
export const unlistedKeys = ['$settings', '$settings.name', '$settings.limits.high']
