import { describe, expect, it } from 'vitest'
import type { NewReading } from '../../src/embed/index.ts'
import { ThingwireError } from '../../src/errors.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { thingsOfTest } from './host-things.ts'

const past = '2026-01-01T00:00:00.000Z'

async function reasonOf(doing: Promise<unknown>): Promise<string> {
  const error = await doing.then(
    () => 'it resolved',
    (error: unknown) => error,
  )
  return error instanceof ThingwireError ? error.reason : String(error)
}

describe('things.write()', () => {
  it.each<[string, NewReading['value']]>([
    ['a number', 21.5],
    ['a text', ' x\u2028"é\ud800 '],
    ['a truth value', false],
    ['an object', { a: [1, { b: null }], c: 'd' }],
    ['an array', [1, 'two', [3]]],
  ])('stores %s, which read() gives back', async (_, value) => {
    const { things, thingId } = await thingsOfTest()
    await things.write(thingId, [{ key: 'k', value }])
    expect((await things.read(thingId, 'k'))[0]?.value).toEqual(value)
  })

  it('stores the JSON of an object that has one', async () => {
    const { things, thingId } = await thingsOfTest()
    class Point {
      x = 1
      y = undefined
    }
    class Itself {
      a = 1
      toJSON() {
        return this
      }
    }
    const value = [
      new Date(past),
      new URL('http://h/'),
      new Point(),
      Object.assign(Object.create(null), { z: 1 }),
    ]
    await things.write(thingId, [{ key: 'k', value: [...value, new Itself()] }])
    expect((await things.read(thingId, 'k'))[0]?.value).toEqual([
      past,
      'http://h/',
      { x: 1 },
      { z: 1 },
      { a: 1 },
    ])
  })

  it('stores position and time, in each form that a time may have', async () => {
    const { things, thingId } = await thingsOfTest()
    const geo = { lat: 60.5, long: -23 }
    for (const datetime of [new Date(past), Date.parse(past), past, '20260101000000'])
      await things.write(thingId, [{ key: 'k', value: 1, geo, datetime }])
    const reading = { thingId, key: 'k', value: 1, geo, datetime: new Date(past) }
    // Equal records are stored once (contract §4.4).
    expect(await things.read(thingId, 'k', { last: 10 })).toEqual([reading])
    await things.write(thingId, [{ key: 'now', value: 1 }])
    const [now] = await things.read(thingId, 'now')
    expect(Math.abs(Number(now?.datetime) - Date.now())).toBeLessThan(60_000)
  })

  it('leaves every record durable when it resolves', async () => {
    const location = await temporaryDirectory()
    const first = await thingsOfTest({ store: createLevelStore({ location }) })
    await first.things.write(first.thingId, [{ key: 'k', value: 1 }])
    await first.things.close()
    const second = await thingsOfTest({ store: createLevelStore({ location }) })
    expect(await second.things.read(first.thingId, 'k')).toMatchObject([{ value: 1 }])
  })

  it('stores writes of one thing in the order of the calls', async () => {
    const { things, thingId } = await thingsOfTest()
    const other = await things.registry.create({})
    const numbers = Array.from({ length: 200 }, (_, number) => number)
    await Promise.all(
      numbers.flatMap(number => [
        things.write(thingId, [{ key: 'n', value: number, datetime: past }]),
        things.write(other.thingId, [{ key: 'n', value: number }]),
      ]),
    )
    const readings = await things.read(thingId, 'n', { last: 1_000 })
    expect(readings.map(({ value }) => value)).toEqual(numbers.toReversed())
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular
  it.each<[string, unknown, string]>([
    ['an empty list', [], 'invalid_values'],
    ['a record that is none', [null], 'invalid_record'],
    ['a bad key', [{ key: 'a b', value: 1 }], 'invalid_key'],
    ['no value', [{ key: 'k' }], 'invalid_value'],
    ['null without a position', [{ key: 'k', value: null }], 'invalid_value'],
    ['NaN', [{ key: 'k', value: Number.NaN }], 'number_out_of_range'],
    ['Infinity inside', [{ key: 'k', value: { deep: [Number.POSITIVE_INFINITY] } }], 'number_out_of_range'],
    ['a BigInt', [{ key: 'k', value: 1n }], 'invalid_value'],
    ['a BigInt inside', [{ key: 'k', value: [1n] }], 'invalid_value'],
    ['a function', [{ key: 'k', value: () => 1 }], 'invalid_value'],
    ['a symbol', [{ key: 'k', value: Symbol('s') }], 'invalid_value'],
    ['a function inside', [{ key: 'k', value: { f: () => 1 } }], 'invalid_value'],
    ['a Map', [{ key: 'k', value: new Map([[1, 2]]) }], 'invalid_value'],
    ['a Set inside', [{ key: 'k', value: { all: [new Set([1])] } }], 'invalid_value'],
    ['a RegExp', [{ key: 'k', value: /x/ }], 'invalid_value'],
    ['an Error', [{ key: 'k', value: new Error('x') }], 'invalid_value'],
    ['a promise', [{ key: 'k', value: Promise.resolve(1) }], 'invalid_value'],
    ['an array of bytes', [{ key: 'k', value: new Uint8Array(2) }], 'invalid_value'],
    ['a number as an object', [{ key: 'k', value: Object(Number.NaN) }], 'invalid_value'],
    ['an array with a gap', [{ key: 'k', value: Array(2) }], 'invalid_value'],
    ['a Date that is none as the value', [{ key: 'k', value: { at: new Date('x') } }], 'invalid_value'],
    [
      'a toJSON that gives NaN',
      [{ key: 'k', value: { toJSON: () => ({ n: Number.NaN }) } }],
      'number_out_of_range',
    ],
    ['a toJSON that throws', [{ key: 'k', value: { toJSON: () => JSON.parse('') } }], 'invalid_value'],
    ['an object with itself inside', [{ key: 'k', value: circular }], 'value_too_deep'],
    ['a position out of range', [{ key: 'k', value: 1, geo: { lat: 91, long: 0 } }], 'invalid_geo'],
    ['a Date that is none', [{ key: 'k', value: 1, datetime: new Date('x') }], 'invalid_datetime'],
    ['a time that is none', [{ key: 'k', value: 1, datetime: Number.NaN }], 'invalid_datetime'],
    ['a time before 1970', [{ key: 'k', value: 1, datetime: -1 }], 'datetime_out_of_range'],
    ['a time to come', [{ key: 'k', value: 1, datetime: Date.now() + 1e9 }], 'datetime_out_of_range'],
    ['a magic value', [{ key: '$geo', value: 'x' }], 'invalid_position'],
  ])('refuses %s, and lists the refusal', async (_, records, reason) => {
    const { things, thingId } = await thingsOfTest()
    expect(await reasonOf(things.write(thingId, records as NewReading[]))).toBe(reason)
    expect(await things.parts.records.resources(thingId)).toEqual([])
    const [listed] = await things.parts.refused.list(thingId, 1)
    expect(listed).toMatchObject({ door: 'host', reason })
    expect(listed?.excerpt).toContain('values')
  })

  it('names each bad record of a write, and stores none of it', async () => {
    const { things, thingId } = await thingsOfTest()
    const writing = things.write(thingId, [
      { key: 'good', value: 1 },
      { key: 'bad', value: Number.NaN },
    ])
    await expect(writing).rejects.toMatchObject({ errors: [{ index: 1, field: 'value' }] })
    await expect(things.read(thingId, 'good')).rejects.toMatchObject({ reason: 'unknown_resource' })
  })

  it.each([
    ['of an unknown thing', 'abcdefghijklmnop'],
    ['of no id', ''],
    ['of a thing token', 't'.repeat(43)],
  ])('refuses a write %s', async (_, thingId) => {
    const { things } = await thingsOfTest()
    expect(await reasonOf(things.write(thingId, [{ key: 'k', value: 1 }]))).toBe('unknown_thing')
    expect(await reasonOf(things.read(thingId, 'k'))).toBe('unknown_thing')
  })

  it('refuses a write of a thing that was removed', async () => {
    const { things, thingId } = await thingsOfTest()
    await things.write(thingId, [{ key: 'k', value: 1 }])
    await things.registry.remove(thingId)
    expect(await reasonOf(things.write(thingId, [{ key: 'k', value: 1 }]))).toBe('unknown_thing')
  })

  it('meets the limits of the thing', async () => {
    const { things, thingId } = await thingsOfTest({ limits: { resourcesPerThing: 1, writesPerSecond: 1 } })
    await things.write(thingId, [{ key: 'a', value: 1 }])
    expect(await reasonOf(things.write(thingId, [{ key: 'b', value: 1 }]))).toBe('too_many_resources')
    const writes = Array.from({ length: 10 }, () => reasonOf(things.write(thingId, [{ key: 'a', value: 1 }])))
    expect(await Promise.all(writes)).toContain('write_rate_exceeded')
  })

  it('writes once under one id, keeps nothing with store: false, and refuses flags that are none', async () => {
    const { things, thingId } = await thingsOfTest()
    for (const value of [1, 2]) await things.write(thingId, [{ key: 'k', value }], { id: 'once' })
    await things.write(thingId, [{ key: 'k', value: 3 }], { store: false })
    expect(await things.read(thingId, 'k', { last: 10 })).toMatchObject([{ value: 1 }])
    const flagged = things.write(thingId, [{ key: 'k', value: 4 }], { store: 'no' as unknown as boolean })
    expect(await reasonOf(flagged)).toBe('invalid_flag')
    const misspelled = things.write(thingId, [{ key: 'k', value: 4 }], { stor: false } as object)
    await expect(misspelled).rejects.toThrow(
      /^write has no option "stor": its options are store, broadcast, id$/,
    )
  })
})
