import { type Case, created, received, refusal, written } from '../case.ts'

const body = { values: [{ key: 'reading', value: 1 }] }
const bad = { values: [{ key: '', value: 1 }] }
const refusedKey = refusal('invalid_key', [{ index: 0, field: 'key', reason: 'invalid_key' }])

/** Contract §3. */
export const flags: readonly Case[] = [
  {
    name: 'store and broadcast true are the default',
    steps: [{ body, options: { store: true, broadcast: true, partial: false }, answer: created }],
    records: { reading: [received(1)] },
  },
  {
    name: 'store false keeps no record',
    steps: [{ body, options: { store: false }, answer: created }],
    records: {},
  },
  {
    name: 'store false leaves what was kept before',
    steps: [
      written({ key: 'reading', value: 0 }),
      { body, options: { store: false }, answer: created },
      written({ key: 'reading', value: 2 }),
    ],
    records: { reading: [received(0), received(2)] },
  },
  {
    name: 'store false keeps no magic record',
    steps: [
      { body: { values: [{ key: '$geo', value: [2, 41] }] }, options: { store: false }, answer: created },
    ],
    records: {},
  },
  {
    name: 'store false refuses what store true refuses',
    steps: [{ body: bad, options: { store: false }, answer: refusedKey }],
    records: {},
  },
  {
    name: 'broadcast false keeps the record',
    steps: [{ body, options: { broadcast: false }, answer: created }],
    records: { reading: [received(1)] },
  },
  {
    name: 'both flags false keep nothing',
    steps: [{ body, options: { store: false, broadcast: false }, answer: created }],
    records: {},
  },
  {
    name: 'both flags false refuse what would be refused',
    steps: [{ body: bad, options: { store: false, broadcast: false }, answer: refusedKey }],
    records: {},
  },
]
