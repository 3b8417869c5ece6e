import { expect, test } from 'vitest'
import type { StoredRecord } from '../../../src/core/record/record.ts'
import {
  decodeMember,
  encodeMember,
  encodePayload,
  identityOf,
  writeNumberInState,
} from '../../../src/store/redis/record-member.ts'

const head = '008000000000050102'
const [writeNumber, place] = [2 ** 47 + 5, 258]
const datetime = 1_792_574_400_123
const seven = { lat: 41.4112345, long: -2.5 }
const longer = { lat: 41.41123456789, long: 1e-9 }
const object = '{"b":1,"a":[2]}'

/** As they are in the stores of users: format 1. */
const members: readonly (readonly [value: string, geo: StoredRecord['geo'], payload: string])[] = [
  ['"ü"', undefined, '0022c3bc22'],
  ['21.5', seven, '0259daae18c08782fe32312e35'],
  ['null', longer, '013f099655a3b4444095d626e80b2e113e6e756c6c'],
  [object, undefined, '0463c9663de90ee8287b2262223a312c2261223a5b325d7d'],
  ['[]', seven, '0659daae18c08782fecbbb901070c85fff5b5d'],
  [object, longer, '053f099655a3b4444095d626e80b2e113e916ab14dd2ca790f7b2262223a312c2261223a5b325d7d'],
]

test('encodeMember() and decodeMember() keep to format 1, byte for byte', () => {
  for (const [value, geo, payload] of members) {
    const record = { key: 'a', datetime, value, ...(geo ? { geo } : {}) }
    const member = encodeMember(writeNumber, place, encodePayload(record))
    expect(member.toString('hex')).toBe(head + payload)
    expect(decodeMember('a', datetime, member)).toEqual(record)
    expect(writeNumberInState(member)).toBe(writeNumber)
  }
})

test('identityOf() is the same for an object whose members come in another order, and for no other value', () => {
  const identity = (value: string, geo?: StoredRecord['geo']) =>
    identityOf(encodePayload({ value, ...(geo ? { geo } : {}) })).toString('hex')
  expect(identity('{"a":[2],"b":1}', seven)).toBe(identity(object, seven))
  const long = `"${'x'.repeat(100)}"`
  const all = [object, '{"b":1,"a":[3]}', long, '1', '"1"'].flatMap(value => [
    identity(value),
    identity(value, seven),
    identity(value, longer),
  ])
  expect(new Set(all).size).toBe(all.length)
})
