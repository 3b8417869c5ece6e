import { expect, test } from 'vitest'
import { Ledger, type Outcome, type Violations, wholeWrites } from './ledger.ts'
import type { PlannedWrite } from './writes.ts'

const noViolations: Violations = {
  ...{ missing: [], halves: [], repeated: [], refusedKept: [], unknown: [], breaches: [] },
}

const planned: PlannedWrite = {
  name: 'w',
  way: 'HTTP',
  thing: 0,
  body: '{}',
  values: ['w-0', 'w-1'],
  repeatable: false,
}
const once = ['w-0', 'w-1']
const twice = [...once, ...once]

test.each<[string, Outcome, string[], object]>([
  ['an acked write', 'acked', once, {}],
  ['an acked write that is gone', 'acked', [], { missing: ['w'] }],
  ['a completed write that is gone', 'completed', [], { missing: ['w'] }],
  ['half of an acked write', 'acked', ['w-1'], { missing: ['w'], halves: ['w'] }],
  ['an acked write that is there twice', 'acked', twice, { repeated: ['w'] }],
  ['an uncertain write', 'uncertain', once, {}],
  ['an uncertain write that is gone', 'uncertain', [], {}],
  ['half of an uncertain write', 'uncertain', ['w-0'], { halves: ['w'] }],
  ['a refused write', 'refused', once, { refusedKept: ['w'] }],
  ['a refused write that is gone', 'refused', [], {}],
  ['what nobody wrote', 'acked', [...once, 'x-0'], { unknown: ['x-0'] }],
])('Ledger.check() judges %s', (_, outcome, stored, violations) => {
  const ledger = new Ledger()
  ledger.add(planned)
  ledger.settle(planned, outcome)
  expect(ledger.check(stored)).toEqual({ ...noViolations, ...violations })
})

test.each<[string, Partial<PlannedWrite>, string[], object]>([
  ['is there twice', { way: 'MQTT 3.1.1, QoS 1' }, twice, {}],
  ['is there three times', { way: 'MQTT 3.1.1, QoS 1' }, [...twice, ...once], { repeated: ['w'] }],
  ['is there once and a half', { way: 'MQTT 3.1.1, QoS 1' }, [...once, 'w-0'], { halves: ['w'] }],
  [
    'is repeatable and there twice',
    { way: 'MQTT 3.1.1, QoS 1', repeatable: true },
    twice,
    { repeated: ['w'] },
  ],
  ['came at QoS 2 and is there twice', { way: 'MQTT 5, QoS 2' }, twice, { repeated: ['w'] }],
  ['came at QoS 2 and is there once', { way: 'MQTT 5, QoS 2' }, once, {}],
])('Ledger.check() judges a write that was sent twice and %s', (_, details, stored, violations) => {
  const ledger = new Ledger()
  const write = { ...planned, ...details }
  ledger.add(write)
  ledger.resend(write)
  ledger.settle(write, 'acked')
  expect(ledger.check(stored)).toEqual({ ...noViolations, ...violations })
})

test('Ledger.resend() refuses a write that was acked', () => {
  const ledger = new Ledger()
  ledger.add(planned)
  ledger.settle(planned, 'acked')
  expect(() => ledger.resend(planned)).toThrow()
})

test('wholeWrites() gives the writes that are there to the last record', () => {
  expect(wholeWrites([planned], ['w-0', 'w-1', 'x-0'])).toEqual([planned])
  expect(wholeWrites([planned], ['w-0'])).toEqual([])
})
