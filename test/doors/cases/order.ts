import { type Case, written } from '../case.ts'
import type { ReadRecord } from '../door.ts'

const second = (number: number) => `2026-01-02T03:04:0${number}.000Z`
const sent = (at: number, value: unknown) => ({ key: 'reading', value, datetime: second(at) })
const read = (at: number, value: unknown): ReadRecord => ({ value, datetime: second(at) })

/** Contract §4, order. */
export const order: readonly Case[] = [
  {
    name: 'records are ordered by datetime, not by arrival',
    steps: [written(sent(5, 'a')), written(sent(3, 'b')), written(sent(4, 'c'))],
    records: { reading: [read(3, 'b'), read(4, 'c'), read(5, 'a')] },
  },
  {
    name: 'records of one write are ordered by datetime, not by place',
    steps: [written(sent(5, 'a'), sent(3, 'b'), sent(4, 'c'))],
    records: { reading: [read(3, 'b'), read(4, 'c'), read(5, 'a')] },
  },
  {
    name: 'equal datetimes are ordered by write',
    steps: [written(sent(1, 'z')), written(sent(1, 'a')), written(sent(1, 'm'))],
    records: { reading: [read(1, 'z'), read(1, 'a'), read(1, 'm')] },
  },
  {
    name: 'equal datetimes of one write are ordered by place',
    steps: [written(...Array.from({ length: 12 }, (_, place) => sent(1, 11 - place)))],
    records: { reading: Array.from({ length: 12 }, (_, place) => read(1, 11 - place)) },
  },
  {
    name: 'equal datetimes are ordered by write before place',
    steps: [written(sent(2, 'x'), sent(1, 'a'), sent(1, 'b')), written(sent(1, 'c'), sent(2, 'y'))],
    records: { reading: [read(1, 'a'), read(1, 'b'), read(1, 'c'), read(2, 'x'), read(2, 'y')] },
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
]
