import type { WriteOptions } from '../../../src/core/parse.ts'
import { created, received, refusal, refusedBody, type Step, tryCases, written } from '../case-table.ts'
import type { Answer } from '../doors.ts'
import type { Refusal } from '../read-back.ts'

const body = { values: [{ key: 'reading', value: 1 }] }
const badBody = { values: [{ key: '', value: 1 }] }
const refusedKey = refusal('invalid_key', [{ index: 0, field: 'key', reason: 'invalid_key' }])

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

function withId(value: unknown, id: string, options: WriteOptions = {}): Step {
  return { body: { values: [{ key: 'reading', value }] }, options: { ...options, id }, answer: created }
}

const takesEffectOnce: readonly (readonly [what: string, id: string])[] = [
  ['one character', '0'],
  ['64 characters', 'i'.repeat(64)],
  ['all kinds of printable characters', '!"#$%&\'()*+,-./:;<=>?@[ ]^_`{|}~'],
]

const invalidIds: readonly (readonly [what: string, id: unknown])[] = [
  ['no character', ''],
  ['65 characters', 'i'.repeat(65)],
  ['a line feed', 'a\n'],
  ['a letter beyond ASCII', 'é'],
  ['a number', 7],
  ['null', null],
]

const badKey = refusal('invalid_key', [{ index: 0, field: 'key', reason: 'invalid_key' }])
const badStep: Step = { body: { values: [{ key: '', value: 1 }] }, options: { id: 'w1' }, answer: badKey }

tryCases({
  /** Contract §3. */
  flags: [
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
      steps: [{ body: badBody, options: { store: false }, answer: refusedKey }],
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
      steps: [{ body: badBody, options: { store: false, broadcast: false }, answer: refusedKey }],
      records: {},
    },
  ],
  /** Contract §2, `partial`. */
  'partial writes': [
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
        {
          body: { values: [bad, bad] },
          options: partial,
          answer: refusal('invalid_value', badValues([0, 1])),
        },
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
  ],
  /** Contract §2, `id`, and §4, resend (c). */
  'write ids': [
    ...takesEffectOnce.map(([what, id]) => ({
      name: `a write with an id of ${what} takes effect once`,
      steps: [withId(1, id), withId(1, id)],
      records: { reading: [received(1)] },
    })),
    ...invalidIds.map(([what, id]) =>
      refusedBody(
        `an id of ${what} is refused`,
        { values: [{ key: 'reading', value: 1 }], id },
        'invalid_write_id',
      ),
    ),
    {
      name: 'a known id has no effect, whatever the body',
      steps: [withId(1, 'w1'), withId(2, 'w1')],
      records: { reading: [received(1)] },
    },
    {
      name: 'ids that differ in case are two',
      steps: [withId(1, 'w1'), withId(2, 'W1')],
      records: { reading: [received(1), received(2)] },
    },
    {
      name: 'a known id with a body that would be refused is answered like the first',
      steps: [withId(1, 'w1'), { ...badStep, answer: created }],
      records: { reading: [received(1)] },
    },
    {
      name: 'a refused write leaves its id free',
      steps: [badStep, withId(1, 'w1')],
      records: { reading: [received(1)] },
    },
    {
      name: 'the id of a write that was not stored is known',
      steps: [withId(1, 'w1', { store: false }), withId(2, 'w1')],
      records: {},
    },
    {
      name: 'a dry run leaves its id free',
      steps: [withId(1, 'w1', { store: false, broadcast: false }), withId(2, 'w1')],
      records: { reading: [received(2)] },
    },
    {
      name: 'copies sent together take effect once',
      steps: [[withId(1, 'w1'), withId(1, 'w1'), withId(1, 'w1'), withId(1, 'w1')]],
      records: { reading: [received(1)] },
    },
    {
      name: 'a write without id is no copy of one with',
      steps: [withId(1, 'w1'), { body: { values: [{ key: 'reading', value: 1 }] }, answer: created }],
      records: { reading: [received(1), received(1)] },
    },
  ],
})
