import { expect, test } from 'vitest'
import { MagicModel } from './model.ts'
import type { KeptRecord, MagicWrite } from './write.ts'

const place = { name: 'm1-h-0-0', way: 'HTTP', thing: 0, body: '', values: [], repeatable: true } as const

function write(...kept: KeptRecord[]): MagicWrite {
  return { ...place, kept }
}

test('MagicModel takes a record without a datetime for newer than all with one', () => {
  const model = new MagicModel()
  model.apply(
    write({ key: '$geo', value: 'first', datetime: 2 }, { key: '$geo', value: 'late', datetime: 1 }),
  )
  expect(model.state('$geo')).toBe('first')
  model.apply(write({ key: '$geo', value: 'received' }, { key: '$geo', value: 'dated', datetime: 3 }))
  expect(model.state('$geo')).toBe('received')
})

test('MagicModel leaves settings as they are that would become too large', () => {
  const model = new MagicModel()
  const value = '_'.repeat(40_000)
  model.apply(write({ key: '$settings.a', value }, { key: '$settings.b', value }))
  expect(model.state('$settings')).toEqual({ a: value })
})

test('MagicModel counts, and forgets what is removed', () => {
  const model = new MagicModel()
  model.apply(write({ key: '$count', value: 'm1-h-0-0-0' }, { key: '$count', value: 'm1-h-0-1-0' }))
  model.apply(write({ key: '$count', value: 'm1-h-0-1-0' }, { key: '$settings.a', value: { b: 1 } }))
  expect(model.changes).toBe(3)
  expect(model.state('$count')).toMatchObject({ disordered: ['m1-h-0-1-0'] })
  model.apply({ ...write(), removes: '$settings.a.b' })
  expect(model.state('$settings')).toEqual({ a: {} })
  model.apply({ ...write(), removes: '$settings' })
  expect(model.state('$settings')).toBeUndefined()
  expect([...model.history.keys()]).toEqual(['$count'])
})
