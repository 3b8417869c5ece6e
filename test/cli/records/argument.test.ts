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
    ['n=1e3', 'n', 1000],
    ['n=0.1000000000000000055511151231257827', 'n', 0.1],
    ['n=9007199254740993', 'n', '9007199254740993'],
    ['serial=-8949212345678901234', 'serial', '-8949212345678901234'],
    ['sim={"iccid":[8949212345678901234,1]}', 'sim', { iccid: ['8949212345678901234', 1] }],
    ['text="8949212345678901234"', 'text', '8949212345678901234'],
    ['n=012345678901234567890', 'n', '012345678901234567890'],
  ])('reads %s', (operand, key, value) => {
    expect(readingOf(operand)).toEqual({ key, value })
  })

  it.each([
    ['temperature', /temperature is not a reading: write key=value/],
    ['state={on:true}', /begins like JSON/],
    ['de pth=1', /"de pth" in de pth=1 is not a key: a key is 1 to 128/],
    ['a/b=1', /"a\/b" .* is not a key/],
    ['größe=1', /"größe" .* is not a key/],
    ['T[C]=1', /is not a key/],
    ['a,b=1', /is not a key/],
    ['=1', /"" in =1 is not a key/],
    [' n=1', /" n" .* is not a key/],
    [`${'k'.repeat(129)}=1`, /is not a key/],
    ['temperature=', /temperature has no value; to write an empty text on purpose, write 'temperature=""'/],
    ['temperature= ', /has no value/],
    ['$settings.name=', /\$settings\.name has no value/],
    ['n=1e400', /the value of n: a number is too large for a 64-bit float \(number_out_of_range\): 1e400/],
    ['n=-1e309', /number_out_of_range/],
    ['b={"x":1e400}', /the value of b: a number is too large/],
    ['b=[1,[{"y":-2e999}]]', /the value of b: a number is too large/],
    ['$settings={"a":{"b":1e400}}', /the value of \$settings: a number is too large/],
    [`n=${'9'.repeat(310)}`, /number_out_of_range/],
    ['b={"x":1,"x":2}', /the value of b: the member "x" appears twice in one object/],
    ['b=[{"y":{"x":1,"x":1}}]', /the member "x" appears twice/],
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
    'n=8949212345678901234',
    'n={"a":8949212345678901234}',
    'n=[9007199254740993]',
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
    'n={"a":"8949212345678901234"}',
    'n="8949212345678901234"',
  ])('there is no note on %s', operand => {
    expect(notesOf(operand)).toEqual([])
  })

  it('a note says why, of a number with more digits than a float holds', () => {
    expect(notesOf('n=8949212345678901234')).toEqual([
      'n: 8949212345678901234 is stored as text; a 64-bit float would change it',
    ])
  })

  it('geoOf() reads latitude and longitude', () => {
    expect(geoOf('-60.08,23.54')).toEqual({ lat: -60.08, long: 23.54 })
    for (const text of ['60.08', '1e400,1', `1,${'9'.repeat(400)}`, '91,1', '1,-180.5']) {
      expect(() => geoOf(text)).toThrow(expect.objectContaining({ status: 2 }))
    }
  })
})
