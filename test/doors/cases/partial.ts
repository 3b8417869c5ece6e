import { type Case, created, received, refusal } from '../case.ts'
import type { Answer, Refusal } from '../door.ts'

const partial = { partial: true }
const good = { key: 'reading', value: 1 }
const bad = { key: 'reading', value: null }
const mixed = [{ key: '', value: 0 }, good, bad, { ...good, value: 2 }]
const refusals: readonly Refusal[] = [
  { index: 0, field: 'key', reason: 'invalid_key' },
  { index: 2, field: 'value', reason: 'invalid_value' },
]
const mixedAnswer: Answer = { created: true, rejected: refusals }

function badValues(indices: readonly number[]): Refusal[] {
  return indices.map(index => ({ index, field: 'value', reason: 'invalid_value' }))
}

/** Contract §2, `partial`. */
export const partials: readonly Case[] = [
  {
    name: 'a partial write keeps the good records and names the refused ones',
    steps: [{ body: { values: mixed }, options: partial, answer: mixedAnswer }],
    records: { reading: [received(1), received(2)] },
  },
  {
    name: 'a partial write of good records alone rejects nothing',
    steps: [{ body: { values: [good] }, options: partial, answer: created }],
    records: { reading: [received(1)] },
  },
  {
    name: 'a partial write names every refused record, however many',
    steps: [
      {
        body: { values: [good, ...Array.from({ length: 25 }, () => bad), good] },
        options: partial,
        answer: { created: true, rejected: badValues([...Array(25).keys()].map(index => index + 1)) },
      },
    ],
    records: { reading: [received(1), received(1)] },
  },
  {
    name: 'a partial write of which none is left is refused',
    steps: [
      { body: { values: [bad, bad] }, options: partial, answer: refusal('invalid_value', badValues([0, 1])) },
    ],
    records: {},
  },
  {
    name: 'a partial write of which none of 25 is left names the first 20',
    steps: [
      {
        body: { values: Array.from({ length: 25 }, () => bad) },
        options: partial,
        answer: refusal('invalid_value', badValues([...Array(20).keys()])),
      },
    ],
    records: {},
  },
  {
    name: 'a partial write refuses magic records one by one too',
    steps: [
      {
        body: { values: [{ key: '$geo', value: [2, 91] }, { key: '$state', value: 1 }, good] },
        options: partial,
        answer: {
          created: true,
          rejected: [
            { index: 0, field: 'value', reason: 'invalid_position' },
            { index: 1, field: 'key', reason: 'unknown_magic_resource' },
          ],
        },
      },
    ],
    records: { reading: [received(1)] },
  },
  {
    name: 'a partial write is still refused for its envelope',
    steps: [{ body: { values: [] }, options: partial, answer: refusal('invalid_values') }],
    records: {},
  },
  {
    name: 'partial false is atomic',
    steps: [
      { body: { values: mixed }, options: { partial: false }, answer: refusal('invalid_key', refusals) },
    ],
    records: {},
  },
  {
    name: 'a partial write that is not stored is answered like one that is',
    steps: [{ body: { values: mixed }, options: { partial: true, store: false }, answer: mixedAnswer }],
    records: {},
  },
  {
    name: 'a partial write sent again with its id is answered the same and has no effect',
    steps: [
      { body: { values: mixed }, options: { partial: true, id: 'p1' }, answer: mixedAnswer },
      { body: { values: mixed }, options: { partial: true, id: 'p1' }, answer: mixedAnswer },
      { body: { values: [good] }, options: { id: 'p1' }, answer: mixedAnswer },
    ],
    records: { reading: [received(1), received(2)] },
  },
]
