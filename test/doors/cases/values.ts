import { type Case, nested, refused, refusedText, taken, takenText } from '../case.ts'

const whole: readonly (readonly [what: string, value: unknown])[] = [
  ['zero', 0],
  ['a fraction', 21.5],
  ['a negative number', -1.25],
  ['the largest double', Number.MAX_VALUE],
  ['the smallest double', Number.MIN_VALUE],
  ['a sum with all its digits', 0.1 + 0.2],
  ['true', true],
  ['false', false],
  ['the empty string', ''],
  ['a string of digits', '21.50'],
  ['the string null', 'null'],
  ['an emoji', '🌡️👩‍🚀'],
  ['control characters, quotes and separators', '\u0000\n"\\\u2028\ufeff'],
  ['the empty object', {}],
  ['the empty array', []],
  ['an object', { on: true, level: { now: 3, max: null }, 'a.b': ['x'] }],
  ['an array', [1, 'two', null, [false]]],
  ['an array nested 32 levels deep', nested(32)],
  ['a value of 64 KiB', 'x'.repeat(65_534)],
  ['a value of 64 KiB in emojis', `${'😀'.repeat(16_383)}xx`],
]

const deep = '['.repeat(100_000) + ']'.repeat(100_000)

/** Contract §2, `value`. */
export const values: readonly Case[] = [
  ...whole.map(([what, value]) => taken(`${what} reads back as written`, { key: 'reading', value })),
  takenText('-0 reads as 0', '-0', 0),
  takenText('-0 inside a value reads as 0', '{"a":[-0.0]}', { a: [0] }),
  takenText('2^53 + 1 becomes the nearest double', '9007199254740993', 9007199254740992),
  takenText('a number too small for a double reads as 0', '1e-400', 0),
  takenText('1.50e1 reads as the number it is', '1.50e1', 15),
  takenText('a lone surrogate reads back as written', '"a\\ud800b"', 'a\ud800b'),
  takenText('a lone surrogate as the name of a member reads back as written', '{"\\udc00":1}', {
    '\udc00': 1,
  }),
  takenText('an escaped pair of surrogates is one character', '"\\ud83d\\ude00"', '😀'),

  refusedText('1e999 is refused', '1e999', 'value', 'number_out_of_range'),
  refusedText('-1e999 is refused', '-1e999', 'value', 'number_out_of_range'),
  refusedText('1e999 inside a value is refused', '{"a":[1,1e999]}', 'value', 'number_out_of_range'),
  refused('a record without a value is refused', { key: 'reading' }, 'value', 'invalid_value'),
  refused('null without geo is refused', { key: 'reading', value: null }, 'value', 'invalid_value'),
  refused(
    'a value of 64 KiB and one byte is refused',
    { key: 'reading', value: 'x'.repeat(65_535) },
    'value',
    'value_too_large',
  ),
  refused(
    'a value of 64 KiB and two bytes in fewer characters is refused',
    { key: 'reading', value: '😀'.repeat(16_384) },
    'value',
    'value_too_large',
  ),
  refused(
    'an array nested 33 levels deep is refused',
    { key: 'reading', value: nested(33) },
    'value',
    'value_too_deep',
  ),
  refusedText('a value nested 100,000 levels deep is refused', deep, 'value', 'value_too_deep'),
  refusedText('__proto__ as a member is refused', '{"__proto__":{"a":1}}', 'value', 'forbidden_member'),
  refusedText(
    'an escaped __proto__ as a member is refused',
    '{"\\u005f_proto__":1}',
    'value',
    'forbidden_member',
  ),
  refusedText('constructor as a member is refused', '[{"a":{"constructor":1}}]', 'value', 'forbidden_member'),
  refusedText('prototype as a member is refused', '{"prototype":null}', 'value', 'forbidden_member'),
  taken('the names of forbidden members are strings like any other', {
    key: 'reading',
    value: ['__proto__', 'constructor', 'prototype'],
  }),
]
