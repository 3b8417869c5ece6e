import { expect, test } from 'vitest'
import { type JoinMessage, judgeJoin } from './checks.ts'
import type { FindingKind } from './plan.ts'

const message = (key: string, isKept = true) => ({ key, value: '0', isKept })
/** a0 b1 a2 b3 a4 b5, of which b5 is of a `store=false` write, a6. */
const due = ['a', 'b', 'a', 'b', 'a'].map(key => message(key)).concat(message('b', false), message('a'))
const retained = (place: number) => ({ place, retain: true })
const live = (place: number) => ({ place, retain: false })

test.each([
  ['retained, then live', [retained(2), retained(1), live(3), live(4), live(5), live(6)]],
  ['a store=false write that is not told', [retained(4), retained(3), live(6)]],
  ['live before the place of the retained', [live(2), live(3), retained(2), retained(3), live(4)]],
  ['retained only', [retained(4), retained(3)]],
])('judgeJoin() finds nothing wrong with %s', (_, messages) => {
  expect(judgeJoin(due, messages, 2)).toEqual([])
})

test.each([
  ['retained', 'a retained message that is missing', [retained(2), live(3)]],
  [
    'retained',
    'a retained message that is older than what was acked',
    [retained(0), retained(3), live(4)],
    3,
  ],
  ['retained', 'two retained messages of a key', [retained(2), retained(1), retained(2)]],
  ['retained', 'a retained message behind a newer live one', [live(2), retained(0), retained(1), live(3)]],
  ['doubled', 'a live message that the retained one has told', [retained(2), retained(1), live(2)]],
  ['lost', 'a gap between retained and live', [retained(2), retained(1), live(4)]],
  ['lost', 'a gap among live messages', [retained(0), retained(1), live(2), live(4)]],
  ['out of order', 'live messages that are swapped', [retained(0), retained(1), live(3), live(2)]],
] as [FindingKind, string, JoinMessage[], number?][])(
  'judgeJoin() finds %s: %s',
  (kind, _, messages, acked = 2) => {
    expect(judgeJoin(due, messages, acked).map(found => found.kind)).toContain(kind)
  },
)
