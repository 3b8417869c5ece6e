import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseWrite, WriteRefused } from '../../src/core/parse.ts'
import type { NewRecord } from '../../src/core/record/record.ts'
import { catalogue } from '../../src/errors.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openThings } from '../../src/things.ts'

const now = Date.parse('2026-11-21T09:30:00Z')
const magic = createMagicRegistry()
const marker = 'Zq7Zq7'

/** Any JSON, with names and numbers that mean something to the service, and `marker` in its strings. */
const anyJson = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })
const markedText = fc.string({ unit: 'grapheme' }).map(text => `${marker}${text}`)
const position = fc.record(
  { lat: fc.double(), long: fc.double({ min: -200, max: 200 }) },
  { requiredKeys: [] },
)
const anyRecord = fc.record(
  {
    key: fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9._-]{1,130}$/),
      fc.constantFrom('$geo', '$settings', '$settings.a.b', '$settings.', '$meta', '$x', '__proto__'),
      markedText,
      anyJson,
    ),
    value: fc.oneof(
      anyJson,
      markedText,
      fc.tuple(fc.double(), fc.double()),
      fc.dictionary(markedText, anyJson),
    ),
    geo: fc.oneof(position, fc.record({ lat: markedText, long: fc.constant('2.5') }), anyJson),
    datetime: fc.oneof(
      fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
      fc.stringMatching(/^20\d{12}$/),
      markedText,
      anyJson,
    ),
    other: anyJson,
  },
  { requiredKeys: [] },
)
const anyFlag = fc.oneof({ weight: 5, arbitrary: fc.boolean() }, { weight: 1, arbitrary: anyJson })
const anyWrite = fc.record(
  {
    values: fc.oneof(
      {
        weight: 9,
        arbitrary: fc.array(fc.oneof({ weight: 9, arbitrary: anyRecord }, { weight: 1, arbitrary: anyJson })),
      },
      { weight: 1, arbitrary: anyJson },
    ),
    store: anyFlag,
    broadcast: anyFlag,
    partial: anyFlag,
    id: fc.oneof(fc.string(), markedText, anyJson),
  },
  { requiredKeys: ['values'] },
)
const anyBody = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        markedText,
        anyJson.map(json => JSON.stringify(json)),
      )
      .map(text => Buffer.from(text)),
  },
  { weight: 8, arbitrary: anyWrite.map(write => Buffer.from(JSON.stringify(write))) },
)

function parse(body: Uint8Array) {
  try {
    return parseWrite(body, { options: {}, now, magic })
  } catch (error) {
    if (error instanceof WriteRefused) return error
    throw error
  }
}

function expectRulesKept(record: NewRecord): void {
  expect(record.key).toMatch(/^([A-Za-z0-9._-]{1,128}|\$geo|\$meta|\$settings(\.[A-Za-z0-9_-]{1,64})*)$/)
  if (record.explicit) {
    expect(Number.isInteger(record.datetime)).toBe(true)
    expect(record.datetime).toBeGreaterThanOrEqual(0)
    expect(record.datetime).toBeLessThanOrEqual(now + 24 * 60 * 60 * 1000)
  }
  expect(record.datetimeText === undefined).toBe(!record.explicit)
  expect(Number.isNaN(record.datetime)).toBe(!record.explicit)
  expect(Buffer.byteLength(record.value)).toBeLessThanOrEqual(64 * 1024)
  expect(JSON.stringify(JSON.parse(record.value))).toBe(record.value)
  if (record.value === 'null') expect(record.geo ?? record.key.startsWith('$settings.')).toBeTruthy()
  if (!record.geo) return
  expect(Math.abs(record.geo.lat)).toBeLessThanOrEqual(90)
  expect(Math.abs(record.geo.long)).toBeLessThanOrEqual(180)
}

function expectCoded(refused: WriteRefused): void {
  expect(catalogue[refused.reason]).toMatchObject({ status: 400, mqtt: 'report' })
  expect(refused.errors?.length ?? 1).toBeGreaterThan(0)
  expect(refused.errors?.length ?? 1).toBeLessThanOrEqual(20)
  for (const { field, reason } of refused.errors ?? []) {
    expect(field).toMatch(/^(|key|value|datetime|geo|geo\.lat|geo\.long|__proto__|constructor|prototype)$/)
    expect(catalogue[reason]).toMatchObject({ status: 400, mqtt: 'report' })
  }
}

describe('parseWrite() of any bytes', () => {
  it('gives records that keep every rule, or one refusal with a code', () => {
    fc.assert(
      fc.property(anyBody, body => {
        const result = parse(body)
        if (result instanceof WriteRefused) return expectCoded(result)
        expect(result.records.length).toBeGreaterThan(0)
        result.records.forEach(expectRulesKept)
        const places = [
          ...result.records.map(({ place }) => place),
          ...result.rejected.map(({ index }) => index),
        ]
        expect(places.toSorted((a, b) => a - b)).toEqual([...places.keys()])
      }),
      { numRuns: 2_000 },
    )
  })

  it('says nothing of what the body held', () => {
    fc.assert(
      fc.property(anyBody, body => {
        const result = parse(body)
        const said = result instanceof WriteRefused ? [result.message, result.errors] : [result.rejected]
        expect(JSON.stringify(said)).not.toContain(marker)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('Ingest.write() of any value', () => {
  it('stores what reads back equal', async () => {
    const things = await openThings({ store: createMemoryStore(), adminKey: 'k'.repeat(32) })
    let count = 0
    const value = anyJson.filter(
      json => json !== null && !/"(__proto__|constructor|prototype)":/.test(JSON.stringify(json)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1 }), async sent => {
        const thingId = `thing${++count}`
        const values = sent.map(value => ({ key: 'reading', value }))
        await things.ingest.write({
          thingId,
          door: 'mqtt',
          body: Buffer.from(JSON.stringify({ values })),
          options: {},
        })
        const page = await things.records.read(thingId, 'reading', { order: 'asc', limit: sent.length + 1 })
        const read = page?.records.map(record => JSON.parse(record.value) as unknown)
        expect(read).toEqual(JSON.parse(JSON.stringify(sent)))
      }),
    )
    await things.close()
  })
})
