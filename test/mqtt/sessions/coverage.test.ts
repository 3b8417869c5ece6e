import { expect, it } from 'vitest'
import { Coverage } from '../../../src/mqtt/sessions/session-log.ts'

it('has() is true for what any of the clients wants now', () => {
  const coverage = new Coverage()
  expect(coverage.has('a')).toBe(false)
  coverage.set('one', new Set(['a', 'b']))
  coverage.set('two', new Set(['b', 'c']))
  expect(['a', 'b', 'c', 'd'].map(thing => coverage.has(thing))).toEqual([true, true, true, false])
  coverage.set('one', new Set(['c']))
  expect(['a', 'b', 'c'].map(thing => coverage.has(thing))).toEqual([false, true, true])
  coverage.set('two', new Set())
  expect(['a', 'b', 'c'].map(thing => coverage.has(thing))).toEqual([false, false, true])
  coverage.set('three', new Set(['+']))
  coverage.set('three', new Set(['+', 'a']))
  expect(['a', 'b', 'c', 'd'].map(thing => coverage.has(thing))).toEqual([true, true, true, true])
  coverage.set('three', new Set())
  coverage.set('one', new Set())
  coverage.set('nobody', new Set())
  expect(['a', 'b', 'c', 'd'].map(thing => coverage.has(thing))).toEqual([false, false, false, false])
})
