import { expect, test } from 'vitest'
import { Ledger, noViolations, type Outcome, type PlannedWrite, wholeWrites } from './ledger.ts'

test.each<[string, Outcome, string[], object]>([
  ['an acked write', 'acked', ['w-0', 'w-1'], {}],
  ['an acked write that is gone', 'acked', [], { missing: ['w'] }],
  ['half of an acked write', 'acked', ['w-1'], { missing: ['w'], halves: ['w'] }],
  ['an acked write that is there twice', 'acked', ['w-0', 'w-1', 'w-0', 'w-1'], { repeated: ['w'] }],
  ['an uncertain write', 'uncertain', ['w-0', 'w-1'], {}],
  ['an uncertain write that is gone', 'uncertain', [], {}],
  ['half of an uncertain write', 'uncertain', ['w-0'], { halves: ['w'] }],
  ['a refused write', 'refused', ['w-0', 'w-1'], { refusedKept: ['w'] }],
  ['a refused write that is gone', 'refused', [], {}],
  ['what nobody wrote', 'acked', ['w-0', 'w-1', 'x-0'], { unknown: ['x-0'] }],
])('Ledger.check() judges %s', (_, outcome, stored, violations) => {
  const ledger = new Ledger()
  ledger.add(planned)
  ledger.settle(planned, outcome)
  expect(ledger.check(stored)).toEqual({ ...noViolations, ...violations })
})

test('wholeWrites() gives the writes that are there to the last record', () => {
  expect(wholeWrites([planned], ['w-0', 'w-1', 'x-0'])).toEqual([planned])
  expect(wholeWrites([planned], ['w-0'])).toEqual([])
})

const planned: PlannedWrite = { name: 'w', thing: 0, body: '{}', values: ['w-0', 'w-1'], repeatable: false }
