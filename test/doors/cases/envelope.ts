import { type Case, created, received, refusal, refused, refusedBody, written } from '../case.ts'
import type { Refusal } from '../door.ts'

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

/** Contract §2, the envelope, and a write being atomic. */
export const envelope: readonly Case[] = [
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
]
