import { describe, expect, it } from 'vitest'
import type { ReadReadingsOptions } from '../../src/embed/index.ts'
import { thingsOfTest } from './host-things.ts'

const start = Date.parse('2026-01-01T00:00:00Z')

/** A thing that has measured 0, 1, 2, … once a second. */
async function measured(count: number) {
  const { things, thingId } = await thingsOfTest()
  const records = Array.from({ length: count }, (_, second) => {
    return { key: 'n', value: second, datetime: start + second * 1_000 }
  })
  await things.write(thingId, records)
  const read = async (options?: ReadReadingsOptions) =>
    (await things.read(thingId, 'n', options)).map(({ value }) => value)
  return { things, thingId, read }
}

describe('things.read()', () => {
  it.each<[string, ReadReadingsOptions | undefined, readonly number[]]>([
    ['the newest record', undefined, [9]],
    ['the newest records, newest first', { last: 3 }, [9, 8, 7]],
    ['all that there are', { last: 1_000 }, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ['a range, without its end', { from: start + 2_000, to: start + 5_000 }, [4, 3, 2]],
    ['the newest of a range', { to: new Date(start + 5_000), last: 2 }, [4, 3]],
    ['a range with one end', { from: '2026-01-01T00:00:07Z' }, [9, 8, 7]],
    ['an empty range', { to: start }, []],
  ])('gives %s', async (_, options, values) => {
    expect(await (await measured(10)).read(options)).toEqual(values)
  })

  it('gives a long range whole', async () => {
    const { read } = await measured(9_000)
    const values = await read({ from: 0 })
    expect(values).toEqual(Array.from({ length: 9_000 }, (_, place) => 8_999 - place))
  })

  it('gives the state of a magic resource, and its history', async () => {
    const { things, thingId } = await thingsOfTest()
    await things.write(thingId, [{ key: '$settings.a', value: 1 }])
    await things.write(thingId, [{ key: '$settings.b', value: 2 }])
    await expect.poll(async () => (await things.read(thingId, '$settings'))[0]?.value).toEqual({ a: 1, b: 2 })
    expect(await things.read(thingId, '$settings.a', { last: 10 })).toMatchObject([{ value: 1 }])
    await things.write(thingId, [{ key: '$meta', value: { a: { unit: 'V', discovered: ['unit'] } } }])
    await things.write(thingId, [{ key: '$meta', value: { a: { unit: 'mV' } } }])
    await expect
      .poll(async () => (await things.read(thingId, '$meta'))[0]?.value)
      .toEqual({ a: { unit: 'mV' } })
    expect(await things.read(thingId, '$meta', { last: 10 })).toHaveLength(2)
  })

  it('gives values that nobody else has', async () => {
    const { things, thingId } = await thingsOfTest()
    await things.write(thingId, [{ key: 'k', value: { a: [1] }, geo: { lat: 1, long: 2 } }])
    const [first] = await things.read(thingId, 'k')
    Object.assign(first?.value ?? {}, { a: 'changed' })
    Object.assign(first?.geo ?? {}, { lat: 'changed' })
    expect(await things.read(thingId, 'k')).toMatchObject([{ value: { a: [1] }, geo: { lat: 1, long: 2 } }])
  })

  it.each<[string, string, object, object]>([
    ['a key that was never written', 'x', {}, { reason: 'unknown_resource' }],
    ['a key that is none', 'a\0b', {}, { reason: 'unknown_resource' }],
    ['no records', 'n', { last: 0 }, { reason: 'invalid_limit' }],
    ['half a record', 'n', { last: 1.5 }, { reason: 'invalid_limit' }],
    ['a text of records', 'n', { last: '5' }, { reason: 'invalid_limit' }],
    ['a time that is none', 'n', { from: 'yesterday' }, { reason: 'invalid_range' }],
    ['a Date that is none', 'n', { to: new Date('x') }, { reason: 'invalid_range' }],
    [
      'a misspelled option',
      'n',
      { limit: 5 },
      { message: 'read has no option "limit": its options are last, from, to' },
    ],
  ])('rejects %s', async (_, key, options, error) => {
    const { things, thingId } = await measured(1)
    await expect(things.read(thingId, key, options)).rejects.toMatchObject(error)
  })
})
