import { expect, test } from 'vitest'
import { MagicModel } from './model.ts'
import type { KeptRecord, MagicWrite } from './write.ts'

const place = { name: 'm1-h-0-0', way: 'HTTP', thing: 0, body: '', values: [], repeatable: true } as const

function write(...kept: KeptRecord[]): MagicWrite {
  return { ...place, kept }
}

test('MagicModel moves the position forward in measurement time only', () => {
  const model = new MagicModel()
  model.apply(
    write({ key: '$geo', value: 'first', datetime: 2 }, { key: '$geo', value: 'late', datetime: 1 }),
  )
  expect(model.states.$geo).toBe('first')
  model.apply(write({ key: '$geo', value: 'equal', datetime: 2 }))
  expect(model.states.$geo).toBe('equal')
  model.apply(write({ key: '$geo', value: 'received' }, { key: '$geo', value: 'dated', datetime: 3 }))
  expect(model.states.$geo).toBe('received')
})

test('MagicModel merges settings, and makes objects on the way', () => {
  const model = new MagicModel()
  model.apply(write({ key: '$settings.a', value: null }))
  expect(model.states.$settings).toBeUndefined()
  model.apply(write({ key: '$settings', value: { a: { b: 1, c: [1, null] }, d: null } }))
  model.apply(write({ key: '$settings.a.b.e', value: { f: null } }, { key: '$settings.x.y', value: null }))
  expect(model.states.$settings).toEqual({ a: { b: { e: { f: null } }, c: [1, null] } })
  model.apply(write({ key: '$settings', value: { a: { b: null } } }, { key: '$settings.a.c', value: null }))
  expect(model.states.$settings).toEqual({ a: {} })
})

test('MagicModel leaves settings as they are that would become too large', () => {
  const model = new MagicModel()
  const value = '_'.repeat(40_000)
  model.apply(write({ key: '$settings.a', value }, { key: '$settings.b', value }))
  expect(model.states.$settings).toEqual({ a: value })
})

test('MagicModel counts, and forgets what is removed', () => {
  const model = new MagicModel()
  model.apply(write({ key: '$count', value: 'm1-h-0-0-0' }, { key: '$count', value: 'm1-h-0-1-0' }))
  model.apply(write({ key: '$count', value: 'm1-h-0-1-0' }, { key: '$settings.a', value: 1 }))
  expect(model.changes).toBe(3)
  expect(model.states.$count).toMatchObject({ disordered: ['m1-h-0-1-0'] })
  model.apply({ ...write(), removes: '$settings' })
  expect(model.states.$settings).toBeUndefined()
  expect([...model.history.keys()]).toEqual(['$count'])
})
