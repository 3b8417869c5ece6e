import type { Reason } from '../../../src/errors.ts'
import {
  type Case,
  created,
  received,
  refusal,
  refused,
  refusedBody,
  tryCases,
  written,
} from '../case-table.ts'
import type { Refusal } from '../read-back.ts'

function numbered(count: number): object[] {
  return Array.from({ length: count }, (_, value) => ({ key: 'reading', value }))
}

function badKeys(indices: readonly number[]): Refusal[] {
  return indices.map(index => ({ index, field: 'key', reason: 'invalid_key' }))
}

const wrongValues: readonly (readonly [what: string, body: object])[] = [
  ['missing', {}],
  ['empty', { values: [] }],
  ['null', { values: null }],
  ['an object', { values: { 0: { key: 'reading', value: 1 } } }],
  ['a string', { values: '[]' }],
]

const wrongRecords: readonly (readonly [what: string, record: unknown])[] = [
  ['null', null],
  ['an array', [{ key: 'reading', value: 1 }]],
  ['a string', 'reading'],
  ['a number', 21.5],
]

const wrongFlags: readonly (readonly [flag: string, value: unknown])[] = [
  ['store', 'false'],
  ['store', null],
  ['broadcast', 1],
  ['partial', {}],
]

const record = '{"key":"reading","value":1}'
const write = `{"values":[${record}]}`
const levels = 100_000
const deepArray = '['.repeat(levels) + ']'.repeat(levels)
const deepObject = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

function bytes(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
}

const stringWith = (hostile: readonly number[]) =>
  bytes('{"values":[{"key":"reading","value":"', hostile, '"}]}')

const notUtf8: readonly (readonly [what: string, body: Uint8Array])[] = [
  ['the byte FF in a string', stringWith([0xff])],
  ['an overlong slash', stringWith([0xc0, 0xaf])],
  ['a surrogate in UTF-8', stringWith([0xed, 0xa0, 0x80])],
  ['half a character', stringWith([0xe2, 0x82])],
  ['a character beyond U+10FFFF', stringWith([0xf4, 0x90, 0x80, 0x80])],
  ['Latin-1', stringWith([0xb0])],
  ['UTF-16 with its mark', bytes([0xff, 0xfe], Buffer.from(write, 'utf16le').toJSON().data)],
]

const notJson: readonly (readonly [what: string, body: string | Uint8Array])[] = [
  ['empty', ''],
  ['white space', ' \n'],
  ['plain text', 'temperature=21.5'],
  ['cut off', write.slice(0, -3)],
  ['followed by another', write + write],
  ['behind two byte order marks', `\ufeff\ufeff${write}`],
  ['a byte order mark', '\ufeff'],
  ['in single quotes', write.replaceAll('"', "'")],
  ['with a comma too many', `{"values":[${record},]}`],
  ['with a comment', `{"values":[${record}]/* */}`],
  ['with NaN', '{"values":[{"key":"reading","value":NaN}]}'],
  ['with a number that begins with a zero', '{"values":[{"key":"reading","value":007}]}'],
  ['with a line feed in a string', '{"values":[{"key":"reading","value":"a\nb"}]}'],
  ['with a NUL behind it', bytes(write, [0])],
  ['100,000 levels deep and never closed', '['.repeat(levels)],
  ['UTF-16 without a mark', Buffer.from(write, 'utf16le')],
]

const noObject: readonly (readonly [what: string, body: string])[] = [
  ['an array', `[${record}]`],
  ['null', 'null'],
  ['a string', JSON.stringify(write)],
  ['a number', '21.5'],
  ['100,000 levels of arrays', deepArray],
]

const forbidden: readonly (readonly [where: string, body: string, field: string | undefined])[] = [
  ['__proto__ in the body', `{"__proto__":{"values":[${record}]},"values":[${record}]}`, undefined],
  ['constructor in the body', `{"constructor":1,"values":[${record}]}`, undefined],
  ['prototype in the body', `{"prototype":{},"values":[${record}]}`, undefined],
  ['__proto__ in a record', '{"values":[{"key":"reading","value":1,"__proto__":{}}]}', '__proto__'],
  ['constructor in a record', '{"values":[{"key":"reading","value":1,"constructor":{}}]}', 'constructor'],
  ['prototype in a record', '{"values":[{"prototype":{"key":"reading","value":1}}]}', 'prototype'],
]

function refusedAll(
  bodies: readonly (readonly [what: string, body: string | Uint8Array])[],
  name: (what: string) => string,
  reason: Reason,
): Case[] {
  return bodies.map(([what, body]) => refusedBody(name(what), body, reason))
}

tryCases({
  /** Contract §2, the envelope, and a write being atomic. */
  envelope: [
    {
      name: 'records of one write and no datetime keep their order',
      steps: [written(...numbered(12))],
      records: { reading: Array.from({ length: 12 }, (_, value) => received(value)) },
    },
    {
      name: '10,000 records are one write',
      steps: [written(...numbered(10_000))],
      records: { reading: Array.from({ length: 10_000 }, (_, value) => received(value)) },
    },
    {
      name: 'other fields of the body and of a record are ignored',
      steps: [
        {
          body: {
            protocol: 'v2',
            token: null,
            values: [{ key: 'reading', value: 1, unit: '°C', Key: 'no', writeNumber: 7 }],
          },
          answer: created,
        },
      ],
      records: { reading: [received(1)] },
    },
    {
      name: 'white space around and inside the body is ignored',
      steps: [{ body: '\r\n {\t"values" : [ {"key":"reading","value":1} ] }\n\n', answer: created }],
      records: { reading: [received(1)] },
    },
    refusedBody('10,001 records are refused', { values: numbered(10_001) }, 'too_many_records'),
    ...wrongValues.map(([what, body]) =>
      refusedBody(`a body whose values are ${what} is refused`, body, 'invalid_values'),
    ),
    ...wrongRecords.map(([what, record]) =>
      refused(`a record that is ${what} is refused`, record, '', 'invalid_record'),
    ),
    ...wrongFlags.map(([name, value]) =>
      refusedBody(
        `${name} as ${JSON.stringify(value)} is refused`,
        { values: numbered(1), [name]: value },
        'invalid_flag',
      ),
    ),
    {
      name: 'a write with one bad record keeps nothing of the others, and names it',
      steps: [
        {
          body: { values: [...numbered(2), { key: 'reading', value: null }, ...numbered(2)] },
          answer: refusal('invalid_value', [{ index: 2, field: 'value', reason: 'invalid_value' }]),
        },
      ],
      records: {},
    },
    {
      name: 'every bad record of a write is named with its own field and reason',
      steps: [
        {
          body: {
            values: [
              { key: 'reading', value: 1, datetime: '20250230000000' },
              { key: 'reading', value: 1 },
              { key: 'reading', value: 1, geo: { lat: 91, long: 0 } },
              'reading',
              { key: '$state', value: 1 },
            ],
          },
          answer: refusal('invalid_datetime', [
            { index: 0, field: 'datetime', reason: 'invalid_datetime' },
            { index: 2, field: 'geo.lat', reason: 'invalid_geo' },
            { index: 3, field: '', reason: 'invalid_record' },
            { index: 4, field: 'key', reason: 'unknown_magic_resource' },
          ]),
        },
      ],
      records: {},
    },
    {
      name: '20 bad records are all named',
      steps: [
        {
          body: { values: Array.from({ length: 20 }, () => ({ key: '', value: 1 })) },
          answer: refusal('invalid_key', badKeys([...Array(20).keys()])),
        },
      ],
      records: {},
    },
    {
      name: 'of 25 bad records the first 20 are named',
      steps: [
        {
          body: { values: [...numbered(3), ...Array.from({ length: 25 }, () => ({ key: '', value: 1 }))] },
          answer: refusal('invalid_key', badKeys([...Array(20).keys()].map(index => index + 3))),
        },
      ],
      records: {},
    },
    {
      name: 'a bad magic record takes the ordinary ones of its write with it',
      steps: [
        {
          body: { values: [...numbered(1), { key: '$geo', value: [181, 0] }] },
          answer: refusal('invalid_position', [{ index: 1, field: 'value', reason: 'invalid_position' }]),
        },
      ],
      records: {},
    },
  ],
  /** Contract §2: what is no write at all. */
  'hostile bodies': [
    ...refusedAll(notUtf8, what => `a body with ${what} is not UTF-8`, 'invalid_utf8'),
    ...refusedAll(notJson, what => `a body that is ${what} is not JSON`, 'invalid_json'),
    ...refusedAll(noObject, what => `a body that is ${what} is refused`, 'invalid_body'),
    ...forbidden.map(([where, body, field]) =>
      refusedBody(
        `${where} is refused`,
        body,
        'forbidden_member',
        field === undefined ? undefined : [{ index: 0, field, reason: 'forbidden_member' }],
      ),
    ),
    refusedBody('100,000 levels of objects without values are refused', deepObject, 'invalid_values'),
    refusedBody(
      'a value of 100,000 levels of objects is refused',
      `{"values":[{"key":"reading","value":${deepObject}}]}`,
      'value_too_deep',
      [{ index: 0, field: 'value', reason: 'value_too_deep' }],
    ),
    {
      name: 'a byte order mark in front of a body is ignored',
      steps: [{ body: `\ufeff${write}`, answer: created }],
      records: { reading: [received(1)] },
    },
    {
      name: '100,000 levels in a field that is ignored are ignored',
      steps: [{ body: `{"deep":${deepArray},"values":[${record}]}`, answer: created }],
      records: { reading: [received(1)] },
    },
  ],
})
