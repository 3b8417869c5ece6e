import type { Reason } from '../../../src/errors.ts'
import {
  type Case,
  created,
  nested,
  received,
  refused,
  refusedBody,
  taken,
  tryCases,
  written,
} from '../case-table.ts'

const invalidKeys: readonly (readonly [what: string, key: unknown])[] = [
  ['a dot alone', '.'],
  ['two dots alone', '..'],
  ['the empty key', ''],
  ['a key of 129 characters', 'k'.repeat(129)],
  ['a key with a space', 'room temperature'],
  ['a key with a slash', 'room/temperature'],
  ['a key with a wildcard', 'room+'],
  ['a key with an umlaut', 'wärme'],
  ['a key with an emoji', '🌡'],
  ['a key with a dollar sign inside', 'a$b'],
  ['a key with a line feed at its end', 'temperature\n'],
  ['a key with a NUL', 'a\u0000'],
  ['a key that is a number', 5],
  ['a key that is null', null],
  ['a key that is an array', ['temperature']],
]

const unknownMagicKeys = ['$', '$state', '$geo.lat', '$GEO', '$settingsx', '$geo ']

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

const record = { key: 'reading', value: 1 }
const accepted: readonly (readonly [what: string, geo: unknown, read: { lat: number; long: number }])[] = [
  ['numbers', { lat: 41.41, long: 2.22 }, { lat: 41.41, long: 2.22 }],
  ['strings', { lat: '41.41', long: '-2' }, { lat: 41.41, long: -2 }],
  ['the north-east corner', { lat: 90, long: 180 }, { lat: 90, long: 180 }],
  ['the south-west corner in strings', { lat: '-90.0', long: '-180' }, { lat: -90, long: -180 }],
  ['other members', { lat: 1, long: 2, alt: 3, accuracy: null }, { lat: 1, long: 2 }],
  ['-0', { lat: '-0', long: -0 }, { lat: 0, long: 0 }],
]

const latitudes: readonly unknown[] = [
  90.0001,
  -90.0001,
  '90.0001',
  '1e1',
  '+41',
  ' 41',
  '41,5',
  '.5',
  '5.',
  '0x10',
  '',
  '41\n',
  null,
  true,
  [41],
]

const day = 24 * 60 * 60 * 1000
const minute = 60 * 1000
const soon = fromNow(day - minute)

const spellings: readonly (readonly [sent: string, read: string])[] = [
  ['20151028121856', '2015-10-28T12:18:56.000Z'],
  ['20151028T121856', '2015-10-28T12:18:56.000Z'],
  ['20151028121856799', '2015-10-28T12:18:56.799Z'],
  ['2015-10-28T12:18:56Z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18:56', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18', '2015-10-28T12:18:00.000Z'],
  ['2015-10-28T12:18Z', '2015-10-28T12:18:00.000Z'],
  ['2015-10-28T12:18+02:00', '2015-10-28T10:18:00.000Z'],
  ['2015-10-28t12:18:56z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28 12:18:56Z', '2015-10-28T12:18:56.000Z'],
  ['2015-10-28T12:18:56.7Z', '2015-10-28T12:18:56.700Z'],
  ['2015-10-28T12:18:56.799999999Z', '2015-10-28T12:18:56.799Z'],
  [`2015-10-28T12:18:56.${'9'.repeat(100)}+00:00`, '2015-10-28T12:18:56.999Z'],
  ['2015-10-28T12:18:56+14:00', '2015-10-27T22:18:56.000Z'],
  ['2015-10-28T12:18:56-12:00', '2015-10-29T00:18:56.000Z'],
  ['2015-10-28T12:18:56.5-03:30', '2015-10-28T15:48:56.500Z'],
  ['2015-10-28T12:18:56-00:00', '2015-10-28T12:18:56.000Z'],
  ['20240229235959', '2024-02-29T23:59:59.000Z'],
  ['20000229000000', '2000-02-29T00:00:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['1970-01-01T01:00:00+01:00', '1970-01-01T00:00:00.000Z'],
]

const impossible: readonly (readonly [what: string, datetime: unknown])[] = [
  ['February 30', '20250230120000'],
  ['February 29 of a common year', '2025-02-29T12:00:00Z'],
  ['February 29 of 2100', '21000229120000'],
  ['April 31', '20250431120000'],
  ['month 13', '20251301120000'],
  ['month 0', '20250001120000'],
  ['day 0', '20250100120000'],
  ['24:00', '20250101240000'],
  ['24:00 in RFC 3339', '2025-01-01T24:00:00Z'],
  ['minute 60', '20250101126000'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['second 60', '20250101120060'],
  ['a zone of 24 hours', '2025-01-01T12:00:00+24:00'],
  ['a zone without a colon', '2025-01-01T12:00:00+0200'],
  ['a zone of hours alone', '2025-01-01T12:00:00+02'],
  ['a fraction without digits', '2025-01-01T12:00:00.Z'],
  ['a fraction after a comma', '2025-01-01T12:00:00,5Z'],
  ['a date alone', '2025-01-01'],
  ['eight digits', '20250101'],
  ['thirteen digits', '2025010112000'],
  ['sixteen digits', '2025010112000000'],
  ['eighteen digits', '202501011200000000'],
  ['compact digits with a zone', '20250101120000Z'],
  ['a space at the end', '20250101120000 '],
  ['a line feed at the end', '20250101120000\n'],
  ['Arabic digits', '٢٠٢٥٠١٠١١٢٠٠٠٠'],
  ['an English date', 'Wed, 01 Jan 2025 12:00:00 GMT'],
  ['the empty string', ''],
  ['a JSON number', 20250101120000],
  ['a number of milliseconds', 1735732800000],
  ['false', false],
  ['an object', { $date: '2025-01-01T12:00:00Z' }],
]

const outOfRange: readonly (readonly [what: string, datetime: string])[] = [
  ['the last second before 1970', '19691231235959'],
  ['the last millisecond before 1970', '1969-12-31T23:59:59.9999Z'],
  ['a zone that reaches behind 1970', '1970-01-01T00:00:00+00:01'],
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['the year 99', '00990101000000'],
  ['an hour more than a day ahead', fromNow(day + 60 * minute)],
  ['the year 9999', '99991231235959'],
]

tryCases({
  /** Contract §2, `key`. */
  keys: [
    taken('a key of one character is taken', { key: 'a', value: 1 }),
    taken('a key of 128 characters is taken', { key: 'k'.repeat(128), value: 1 }),
    taken('a key may hold letters, digits, dots, dashes and underscores', { key: '0.Az-9_', value: 1 }),
    ...['...', '.a', '..a', 'a.', 'a..', '.-.', '._', '-', '_', '....'].map(key =>
      taken(`the key ${key} is taken, and can be read`, { key, value: 1 }),
    ),
    taken('constructor is a key like any other', { key: 'constructor', value: 1 }),
    {
      name: 'keys that begin alike or differ in case are resources of their own',
      steps: [
        written(...['t', 'T', 't.1', 't-1', 't_1', 't.1.x'].map((key, index) => ({ key, value: index })), {
          key: 't',
          value: 'again',
        }),
      ],
      records: {
        t: [received(0), received('again')],
        T: [received(1)],
        't.1': [received(2)],
        't-1': [received(3)],
        t_1: [received(4)],
        't.1.x': [received(5)],
      },
    },
    ...invalidKeys.map(([what, key]) =>
      refused(`${what} is refused`, { key, value: 1 }, 'key', 'invalid_key'),
    ),
    refused('a record without a key is refused', { value: 1 }, 'key', 'invalid_key'),
    ...unknownMagicKeys.map(key =>
      refused(
        `${JSON.stringify(key)} is no magic resource`,
        { key, value: [2, 41] },
        'key',
        'unknown_magic_resource',
      ),
    ),
  ],
  /** Contract §2, `value`. */
  values: [
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
    refusedText(
      'constructor as a member is refused',
      '[{"a":{"constructor":1}}]',
      'value',
      'forbidden_member',
    ),
    refusedText('prototype as a member is refused', '{"prototype":null}', 'value', 'forbidden_member'),
    taken('the names of forbidden members are strings like any other', {
      key: 'reading',
      value: ['__proto__', 'constructor', 'prototype'],
    }),
  ],
  /** Contract §2, `geo`. */
  geo: [
    ...accepted.map(([what, sent, read]) =>
      taken(`geo of ${what} is stored as numbers`, { ...record, geo: sent }, { geo: read }),
    ),
    taken('null with geo is a pure position', { key: 'reading', value: null, geo: { lat: 1, long: 2 } }),
    taken('geo null counts as absent', { ...record, geo: null }),

    ...latitudes.map(lat =>
      refused(
        `a latitude of ${JSON.stringify(lat)} is refused`,
        { ...record, geo: { lat, long: 2 } },
        'geo.lat',
        'invalid_geo',
      ),
    ),
    ...[180.0001, -180.0001, '180.0001', undefined].map(long =>
      refused(
        `a longitude of ${JSON.stringify(long)} is refused`,
        { ...record, geo: { lat: 1, long } },
        'geo.long',
        'invalid_geo',
      ),
    ),
    refused('geo without lat is refused', { ...record, geo: { long: 2 } }, 'geo.lat', 'invalid_geo'),
    refused('geo as an array is refused', { ...record, geo: [41, 2] }, 'geo', 'invalid_geo'),
    refused('geo as a string is refused', { ...record, geo: '41,2' }, 'geo', 'invalid_geo'),
    refused('geo as false is refused', { ...record, geo: false }, 'geo', 'invalid_geo'),
    refused(
      'geo without a value is refused',
      { key: 'reading', geo: { lat: 1, long: 2 } },
      'value',
      'invalid_value',
    ),
    refused(
      'null with geo null is refused',
      { key: 'reading', value: null, geo: null },
      'value',
      'invalid_value',
    ),
    refusedBody(
      'a latitude that overflows is refused',
      '{"values":[{"key":"reading","value":1,"geo":{"lat":1e999,"long":2}}]}',
      'invalid_geo',
      [{ index: 0, field: 'geo.lat', reason: 'invalid_geo' }],
    ),
    refusedBody(
      '__proto__ as a member of geo is refused',
      '{"values":[{"key":"reading","value":1,"geo":{"lat":1,"long":2,"__proto__":{}}}]}',
      'forbidden_member',
      [{ index: 0, field: 'geo', reason: 'forbidden_member' }],
    ),
  ],
  /** Contract §2, `datetime`. */
  datetimes: [
    ...spellings.map(([datetime, read]) =>
      taken(`${datetime} is ${read}`, { key: 'reading', value: 1, datetime }, { datetime: read }),
    ),
    taken(
      'a day less a minute ahead is taken',
      { key: 'reading', value: 1, datetime: soon },
      { datetime: soon },
    ),
    taken('a record without datetime gets the receipt time', { key: 'reading', value: 1 }),
    taken('datetime null counts as absent', { key: 'reading', value: 1, datetime: null }),

    ...impossible.map(([what, datetime]) =>
      refused(
        `${what} is no datetime`,
        { key: 'reading', value: 1, datetime },
        'datetime',
        'invalid_datetime',
      ),
    ),
    ...outOfRange.map(([what, datetime]) =>
      refused(
        `${what} is out of range`,
        { key: 'reading', value: 1, datetime },
        'datetime',
        'datetime_out_of_range',
      ),
    ),
  ],
})

/** One record whose value is sent as this JSON text, for what no object can spell. */
function takenText(name: string, value: string, read: unknown): Case {
  const body = `{"values":[{"key":"reading","value":${value}}]}`
  return {
    name,
    steps: [{ body, answer: created }],
    records: { reading: [{ value: read, datetime: 'receipt' }] },
  }
}

/** One record whose value is sent as this JSON text, refused for this field. */
function refusedText(name: string, value: string, field: string, reason: Reason): Case {
  const body = `{"values":[{"key":"reading","value":${value}}]}`
  return refusedBody(name, body, reason, [{ index: 0, field, reason }])
}

/** ISO 8601 of a time so many milliseconds from now. */
function fromNow(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString()
}
