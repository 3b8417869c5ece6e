import { created, received, tryCases, written } from '../case-table.ts'
import type { ReadRecord } from '../read-back.ts'

const datetime = '2026-01-02T03:04:05.000Z'
const sent = { key: 'reading', value: 1, datetime }

function read(value: unknown, more: Partial<ReadRecord> = {}): ReadRecord {
  return { value, datetime, ...more }
}

const equal: readonly (readonly [what: string, first: object, second: object])[] = [
  ['spelled alike', {}, {}],
  ['with the datetime in another spelling', {}, { datetime: '20260102030405' }],
  ['with the datetime in another zone', {}, { datetime: '2026-01-02T05:04:05+02:00' }],
]

const second = (number: number) => `2026-01-02T03:04:0${number}.000Z`
const sentAt = (at: number, value: unknown) => ({ key: 'reading', value, datetime: second(at) })
const readAt = (at: number, value: unknown): ReadRecord => ({ value, datetime: second(at) })

tryCases({
  /** Contract §4, resend (a) and (b). */
  resend: [
    ...equal.map(([what, first, second]) => ({
      name: `a record with a datetime sent again ${what} is stored once`,
      steps: [written({ ...sent, ...first }), written({ ...sent, ...second })],
      records: { reading: [read(1)] },
    })),
    {
      name: 'a number spelled in another way is the same value',
      steps: [
        written(sent),
        { body: `{"values":[{"key":"reading","value":1.0e0,"datetime":"${datetime}"}]}`, answer: created },
      ],
      records: { reading: [read(1)] },
    },
    {
      name: 'geo in strings is the same geo',
      steps: [
        written({ ...sent, geo: { lat: 41.5, long: 2 } }),
        written({ ...sent, geo: { long: '2.0', lat: '41.50' } }),
      ],
      records: { reading: [read(1, { geo: { lat: 41.5, long: 2 } })] },
    },
    {
      name: 'an object with its members in another order is the same value',
      steps: [
        written({ ...sent, value: { a: 1, b: { c: 2, d: [3] } } }),
        written({ ...sent, value: { b: { d: [3], c: 2 }, a: 1 } }),
      ],
      records: { reading: [read({ a: 1, b: { c: 2, d: [3] } })] },
    },
    {
      name: 'a record sent again keeps its first place',
      steps: [written(sent), written({ ...sent, value: 2 }), written(sent), written({ ...sent, value: 3 })],
      records: { reading: [read(1), read(2), read(3)] },
    },
    {
      name: 'of a write sent again with something new only that is stored',
      steps: [
        written(sent, { ...sent, datetime: '20260102030406' }),
        written(sent, { ...sent, datetime: '20260102030406' }, { ...sent, datetime: '20260102030407' }),
      ],
      records: {
        reading: [
          read(1),
          read(1, { datetime: '2026-01-02T03:04:06.000Z' }),
          read(1, { datetime: '2026-01-02T03:04:07.000Z' }),
        ],
      },
    },
    {
      name: 'a record with a datetime twice in one write is stored once',
      steps: [written(sent, { ...sent, value: 2 }, sent)],
      records: { reading: [read(1), read(2)] },
    },
    {
      name: 'two values of one datetime are both kept',
      steps: [written(sent), written({ ...sent, value: '1' }), written({ ...sent, value: true })],
      records: { reading: [read(1), read('1'), read(true)] },
    },
    {
      name: 'two positions of one datetime and value are both kept',
      steps: [
        written(sent),
        written({ ...sent, geo: { lat: 1, long: 2 } }),
        written({ ...sent, geo: { lat: 2, long: 1 } }),
      ],
      records: {
        reading: [read(1), read(1, { geo: { lat: 1, long: 2 } }), read(1, { geo: { lat: 2, long: 1 } })],
      },
    },
    {
      name: 'one value of one datetime under two keys is two records',
      steps: [written(sent, { ...sent, key: 'other' })],
      records: { reading: [read(1)], other: [read(1)] },
    },
    {
      name: 'a record without datetime sent again is stored again',
      steps: [written({ key: 'reading', value: 1 }), written({ key: 'reading', value: 1 })],
      records: { reading: [received(1), received(1)] },
    },
    {
      name: 'a record without datetime twice in one write is two records',
      steps: [written({ key: 'reading', value: 1 }, { key: 'reading', value: 1 })],
      records: { reading: [received(1), received(1)] },
    },
    {
      name: 'a position with a datetime sent again in another form is stored once',
      steps: [
        written({ key: '$geo', value: [2, 41], datetime }),
        written({ key: '$geo', value: null, geo: { lat: 41, long: 2 }, datetime }),
      ],
      records: { $geo: [read({ type: 'Point', coordinates: [2, 41] })] },
    },
  ],
  /** Contract §4, order. */
  order: [
    {
      name: 'records are ordered by datetime, not by arrival',
      steps: [written(sentAt(5, 'a')), written(sentAt(3, 'b')), written(sentAt(4, 'c'))],
      records: { reading: [readAt(3, 'b'), readAt(4, 'c'), readAt(5, 'a')] },
    },
    {
      name: 'records of one write are ordered by datetime, not by place',
      steps: [written(sentAt(5, 'a'), sentAt(3, 'b'), sentAt(4, 'c'))],
      records: { reading: [readAt(3, 'b'), readAt(4, 'c'), readAt(5, 'a')] },
    },
    {
      name: 'equal datetimes are ordered by write',
      steps: [written(sentAt(1, 'z')), written(sentAt(1, 'a')), written(sentAt(1, 'm'))],
      records: { reading: [readAt(1, 'z'), readAt(1, 'a'), readAt(1, 'm')] },
    },
    {
      name: 'equal datetimes of one write are ordered by place',
      steps: [written(...Array.from({ length: 12 }, (_, place) => sentAt(1, 11 - place)))],
      records: { reading: Array.from({ length: 12 }, (_, place) => readAt(1, 11 - place)) },
    },
    {
      name: 'equal datetimes are ordered by write before place',
      steps: [
        written(sentAt(2, 'x'), sentAt(1, 'a'), sentAt(1, 'b')),
        written(sentAt(1, 'c'), sentAt(2, 'y')),
      ],
      records: { reading: [readAt(1, 'a'), readAt(1, 'b'), readAt(1, 'c'), readAt(2, 'x'), readAt(2, 'y')] },
    },
    {
      name: 'milliseconds count',
      steps: [
        written({ key: 'reading', value: 2, datetime: '20260102030405002' }),
        written({ key: 'reading', value: 1, datetime: '20260102030405001' }),
      ],
      records: {
        reading: [
          { value: 1, datetime: '2026-01-02T03:04:05.001Z' },
          { value: 2, datetime: '2026-01-02T03:04:05.002Z' },
        ],
      },
    },
  ],
})
