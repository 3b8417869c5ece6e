import type { WriteOptions } from '../../../src/core/parse.ts'
import { type Case, created, received, refusal, refusedBody, type Step } from '../case.ts'

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

/** Contract §2, `id`, and §4, resend (c). */
export const writeIds: readonly Case[] = [
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
]
