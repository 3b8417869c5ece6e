import assert from 'node:assert/strict'
import type { RefusedWrite } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count, otherThing, refusal, thing } from './writes.ts'

export const full: RefusedWrite = {
  datetime: 7,
  door: 'mqtt',
  reason: 'invalid_key',
  message: 'values[0]: key must be …',
  errors: [{ index: 0, field: 'key', reason: 'invalid_key', message: 'key must be …' }],
  id: 'a',
  excerpt: '{"values":[{"key":"\u{1f600} \ufffd',
}

export function refusedWrites({ test, capabilities }: Suite): void {
  test('list() of refused writes gives the newest first, as they were added', async stage => {
    const { refused } = await stage.open()
    assert.deepEqual(await refused.list(thing, 100), [])
    for (const entry of [refusal(1), refusal(1), full]) await refused.add(thing, entry)
    assert.deepEqual(await refused.list(thing, 100), [full, refusal(1), refusal(1)])
    assert.deepEqual(await refused.list(thing, 1), [full])
    assert.deepEqual(await refused.list(otherThing, 100), [])
  })

  test('add() keeps the last 100 refused writes of each thing', async stage => {
    const { refused } = await stage.open()
    await refused.add(otherThing, full)
    await Promise.all(count(350).map(datetime => refused.add(thing, refusal(datetime))))
    assert.deepEqual(await refused.list(thing, 1_000), count(350).slice(250).reverse().map(refusal))
    assert.deepEqual(await refused.list(thing, 2), [refusal(349), refusal(348)])
    assert.deepEqual(await refused.list(otherThing, 1_000), [full])
  })

  if (!capabilities.durable) return

  test('add() goes on where it was when the store is reopened', async stage => {
    const before = await stage.open()
    for (const datetime of count(99)) await before.refused.add(thing, refusal(datetime))
    const { refused } = await stage.reopen()
    await refused.add(thing, full)
    await refused.add(thing, refusal(100))
    const expected = [refusal(100), full, ...count(99).slice(1).reverse().map(refusal)]
    assert.deepEqual(await refused.list(thing, 1_000), expected)
  })
}
