import { describe, expect, it } from 'vitest'
import { isInexact, LossyJson, parseExactly } from '../../../src/core/json/exact-json.ts'

describe('parseExactly()', () => {
  it.each([
    '0',
    '-0',
    '0.1',
    '21.50',
    '1e3',
    '-1.5E-7',
    '9007199254740992',
    '100000000000000000000000',
    '12345678901234567000',
    '0.30000000000000004441',
    '1.2345678901234567891',
    '"9007199254740993"',
    String.raw`"a\"9007199254740993\\"`,
    '{"9007199254740993":{"a":[]},"b":{"a":{}}}',
    '[{"a":1},{"a":1},{"a":{"a":[{"a":1}]}}]',
    String.raw`{"{\"a\":1,\"a\"":":","a":"\u0061"}`,
    '{"__proto__":1,"constructor":2}',
    ' [ true , false , null ] ',
  ])('reads %s as JSON.parse does', json => {
    expect(parseExactly(json)).toEqual(JSON.parse(json))
  })

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-8949212345678901234', '-8949212345678901234'],
    ['[9007199254740993,9007199254740992]', ['9007199254740993', 9007199254740992]],
    ['9'.repeat(300), '9'.repeat(300)],
  ])('keeps %s as a text', (json, value) => {
    expect(parseExactly(json)).toEqual(value)
  })

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":[{"a":2}],"a" : 3}', 'a'],
    ['[[{"a":{"c":{},"":0,"":0}}]]', ''],
    [String.raw`{"a\"":1,"\u0061\"":2}`, 'a"'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('refuses %s', (json, name) => {
    const message = `the member ${JSON.stringify(name)} appears twice in one object: remove one`
    expect(() => parseExactly(json)).toThrow(new LossyJson(message))
  })

  it.each([
    ['1e400', '1e400'],
    ['{"a":{"b": -1E+309 }}', '-1E+309'],
    ['["1e400",[1,2e999]]', '2e999'],
    ['9'.repeat(400), '9'.repeat(40)],
  ])('refuses the number in %s', (json, number) => {
    const message = `a number is too large for a 64-bit float (number_out_of_range): ${number}`
    expect(() => parseExactly(json)).toThrow(new LossyJson(message))
  })

  it('reads a text that looks like a number too large', () => {
    expect(parseExactly('{"1e400":"1e400"}')).toEqual({ '1e400': '1e400' })
  })

  it('reads a long text with quotes and brackets in it', () => {
    const text = '"\\{}:1'.repeat(1_000_000)
    expect(parseExactly(JSON.stringify([text])) as string[]).toEqual([text])
  })

  it.each(['', '{', '{9007199254740993:1}', '09007199254740993', '9007199254740993x', '"a', '{"a":1,"a":2'])(
    'takes %j for no JSON',
    json => {
      expect(() => parseExactly(json)).toThrow(SyntaxError)
    },
  )
})

describe('isInexact()', () => {
  it.each(['9007199254740993', '-9007199254740993', '18446744073709551615'])('is true of %s', number => {
    expect(isInexact(number)).toBe(true)
  })

  it.each([
    '9007199254740991',
    '18446744073709552000',
    '1e308',
    '1e309',
    'Infinity',
    '0.1234567890123456789',
    '-12',
    'a',
    '',
  ])('is false of %j', text => {
    expect(isInexact(text)).toBe(false)
  })
})
