import { describe, expect, it } from 'vitest'
import { parseWrite, type WriteOptions, WriteRefused } from '../../src/core/parse.ts'
import { ThingwireError } from '../../src/errors.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'

const now = Date.parse('2026-11-21T09:30:00Z')
const record = { key: 'reading', value: 1 }

function parse(body: unknown, options: WriteOptions = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return parseWrite(Buffer.from(text), { options, now, magic: createMagicRegistry() })
}

function refusal(body: unknown, options: WriteOptions = {}): WriteRefused {
  try {
    parse(body, options)
  } catch (error) {
    if (error instanceof WriteRefused) return error
    throw error
  }
  throw new Error('the body was not refused')
}

// The rules of the contract, both sides of each bound, are rows of the case table in test/doors/cases.
describe('parseWrite()', () => {
  it('gives the records their place, and leaves the datetime to the store where they bring none', () => {
    const datetimeText = '20261121092959'
    const values = [record, { ...record, datetime: datetimeText }, { ...record, datetime: null }]
    expect(parse({ values })).toEqual({
      id: undefined,
      store: true,
      broadcast: true,
      rejected: [],
      records: [
        { key: 'reading', value: '1', datetime: Number.NaN, place: 0, explicit: false },
        { key: 'reading', value: '1', datetime: now - 1_000, place: 1, explicit: true, datetimeText },
        { key: 'reading', value: '1', datetime: Number.NaN, place: 2, explicit: false },
      ],
    })
  })

  it('leaves the place of a refused record empty', () => {
    const { records, rejected } = parse({ values: [record, {}, record] }, { partial: true })
    expect(records.map(({ place }) => place)).toEqual([0, 2])
    expect(rejected.map(({ index }) => index)).toEqual([1])
  })

  it('takes what the request says over what its body says', () => {
    const body = { values: [record, {}], store: true, broadcast: true, partial: false }
    const options = { store: false, broadcast: false, partial: true, id: 'request' }
    expect(parse(body, options)).toMatchObject({ store: false, broadcast: false, id: 'request' })
    expect(parse({ values: [record], store: false, id: 'body' })).toMatchObject({ store: false, id: 'body' })
  })

  it('refuses two different write ids', () => {
    expect(parse({ values: [record], id: 'a' }, { id: 'a' }).id).toBe('a')
    expect(refusal({ values: [record], id: 'b' }, { id: 'a' }).reason).toBe('invalid_write_id')
  })

  it('refuses a wrong option of the body though the request has a right one', () => {
    expect(refusal({ values: [record], store: 'no' }, { store: true }).reason).toBe('invalid_flag')
    expect(refusal({ values: [record], id: 7 }, { id: 'a' })).toMatchObject({
      reason: 'invalid_write_id',
      writeId: 'a',
    })
  })

  it('carries the write id of what it refuses, wherever it was, and none that is invalid', () => {
    expect(refusal({ values: [], id: 'a' }).writeId).toBe('a')
    expect(refusal('no JSON', { id: 'a' }).writeId).toBe('a')
    expect(refusal(`{"id":"a","constructor":1}`).writeId).toBe('a')
    expect(refusal('no JSON').writeId).toBeUndefined()
    expect(refusal({ values: [record] }, { id: 'i'.repeat(65) })).toMatchObject({
      reason: 'invalid_write_id',
      writeId: undefined,
    })
  })

  it('takes a datetime up to exactly 24 hours ahead', () => {
    expect(parse({ values: [{ ...record, datetime: '2026-11-22T09:30:00Z' }] }).records).toHaveLength(1)
    expect(refusal({ values: [{ ...record, datetime: '2026-11-22T09:30:00.001Z' }] }).reason).toBe(
      'datetime_out_of_range',
    )
  })

  it('reads a view of bytes, not what lies around it', () => {
    const bytes = Buffer.from(`xx${JSON.stringify({ values: [record] })}xx`)
    const body = new Uint8Array(bytes.buffer, bytes.byteOffset + 2, bytes.byteLength - 4)
    const context = { options: {}, now, magic: createMagicRegistry() }
    expect(parseWrite(body, context).records).toHaveLength(1)
  })

  it('takes U+FFFD, and refuses bytes that are read as it', () => {
    const context = { options: {}, now, magic: createMagicRegistry() }
    const body = Buffer.from('{"values":[{"key":"a","value":"\ufffd"}]}')
    expect(parseWrite(body, context).records[0]?.value).toBe('"\ufffd"')
    body[body.indexOf('\ufffd')] = 0xff
    expect(() => parseWrite(body, context)).toThrow('UTF-8')
  })

  it('names the first bad field of a record in the order key, geo, value, datetime', () => {
    const bad = { key: '', geo: 1, value: null, datetime: 1 }
    const fields = [
      bad,
      { ...bad, key: 'k' },
      { ...bad, key: 'k', geo: null },
      { ...bad, key: 'k', geo: null, value: 1 },
    ]
    expect(refusal({ values: fields }).errors?.map(({ field }) => field)).toEqual([
      'key',
      'geo',
      'value',
      'datetime',
    ])
  })

  it.each(['NaN', 'nan', '-nan', 'Infinity', '-Infinity', 'inf', '-inf'])(
    'names a bare %s, and where it is',
    number => {
      const start = '{"id":"NaN \\" inf","values":[{"key":"a","value":'
      const { reason, message } = refusal(`${start}${number}},{"key":"b","value":nan}]}`)
      expect([reason, message]).toEqual([
        'invalid_json',
        `the body must be JSON: found ${number} at position ${start.length} where a value is expected: leave the record out, or send null with geo`,
      ])
    },
  )

  it('throws what is no refusal as it is', () => {
    const defect = new Error('defect')
    const magic = {
      check: () => {
        throw defect
      },
    }
    const body = Buffer.from('{"values":[{"key":"$geo","value":1}]}')
    expect(() => parseWrite(body, { options: {}, now, magic })).toThrow(defect)
  })

  it('refuses with an error of the catalogue', () => {
    expect(refusal('')).toBeInstanceOf(ThingwireError)
    expect(refusal('')).toMatchObject({ status: 400, retryable: false })
  })
})
