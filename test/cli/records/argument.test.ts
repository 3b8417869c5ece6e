import { describe, expect, it } from 'vitest'
import { geoOf, isReading, notesOf, readingOf } from '../../../src/cli/records/argument.ts'

describe('readingOf()', () => {
  it.each([
    ['temperature=21.5', 'temperature', 21.5],
    ['state={"on":true}', 'state', { on: true }],
    ['name=boat', 'name', 'boat'],
    ['serial="007"', 'serial', '007'],
    ['serial=007', 'serial', '007'],
    ['query=a=b', 'query', 'a=b'],
    ['$settings.alarm=null', '$settings.alarm', null],
  ])('reads %s', (operand, key, value) => {
    expect(readingOf(operand)).toEqual({ key, value })
  })

  it.each([
    ['temperature', /temperature is not a reading: write key=value/],
    ['state={on:true}', /begins like JSON/],
    ['de pth=1', /"de pth" in de pth=1 is no key: a key is 1 to 128/],
    ['a/b=1', /"a\/b" .* is no key/],
    ['größe=1', /"größe" .* is no key/],
    ['T[C]=1', /is no key/],
    ['a,b=1', /is no key/],
    ['=1', /"" in =1 is no key/],
    [' n=1', /" n" .* is no key/],
    [`${'k'.repeat(129)}=1`, /is no key/],
    ['temperature=', /temperature has no value; to write an empty text on purpose, write 'temperature=""'/],
    ['temperature= ', /has no value/],
    ['$settings.name=', /\$settings\.name has no value/],
    ['n=1e400', /n has a number too large for a 64-bit float \(number_out_of_range\): 1e400/],
    ['n=-1e309', /number_out_of_range/],
    ['b={"x":1e400}', /b has a number too large/],
    ['b=[1,[{"y":-2e999}]]', /b has a number too large/],
    ['$settings={"a":{"b":1e400}}', /\$settings has a number too large/],
    [`n=${'9'.repeat(310)}`, /number_out_of_range/],
  ])('refuses %s', (operand, message) => {
    expect(() => readingOf(operand)).toThrow(
      expect.objectContaining({ status: 2, message: expect.stringMatching(message) }),
    )
  })

  it('reads an empty text that is asked for', () => {
    expect(readingOf('name=""')).toEqual({ key: 'name', value: '' })
  })

  it.each(['n=1', 'de pth=1', '=1', 'n=', 'a=b=c'])('%j is a reading and no name of a thing', operand => {
    expect(isReading(operand)).toBe(true)
  })

  it.each([
    'n=21,5',
    'n=1,234.5',
    'n=NaN',
    'n=-Infinity',
    'n=+3',
    'n=.5',
    'n=0x1F',
    'n=007',
    'n=1 234,5',
    "n=1'234.5",
    'n=−3',
    'n=5.',
  ])('a note says that %s is stored as text', operand => {
    expect(notesOf(operand)).toEqual([expect.stringContaining('stored as text')])
  })

  it.each([
    'n=21.5',
    'n= 21',
    'n=1e3',
    'n="007"',
    'n=2026-11-21',
    'n=1.2.3',
    'n=boat',
    'n=""',
    'n={"a":"1,5"}',
  ])('there is no note on %s', operand => {
    expect(notesOf(operand)).toEqual([])
  })

  it('geoOf() reads latitude and longitude', () => {
    expect(geoOf('-60.08,23.54')).toEqual({ lat: -60.08, long: 23.54 })
    for (const text of ['60.08', '1e400,1', `1,${'9'.repeat(400)}`, '91,1', '1,-180.5']) {
      expect(() => geoOf(text)).toThrow(expect.objectContaining({ status: 2 }))
    }
  })
})
