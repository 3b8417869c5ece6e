import assert from 'node:assert/strict'
import type { Append, RecordStore } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen } from './views.ts'
import { count, key, otherThing, received, thing, valuesOf, write } from './writes.ts'

/** A write with one record for each key. */
function limited(maximumResources: number, keys: readonly string[], more: Partial<Append> = {}): Append {
  const records = keys.map((name, value) => received(value, { key: name }))
  return write(records, { maximumResources, ...more })
}

async function isRefused(appending: Promise<unknown>, what?: string): Promise<void> {
  await assert.rejects(appending, { reason: 'too_many_resources' }, what)
}

async function resourcesOf(records: RecordStore): Promise<string> {
  return (await records.resources(thing)).join(' ')
}

export function resourceLimit({ test, testStage, capabilities }: Suite): void {
  test('append() refuses all of a write that makes too many resources', async ({ records, documents }) => {
    const delivered = listen(records)
    await records.append(limited(3, ['a', 'b']))
    const tooMany = limited(3, ['a', 'c', 'd'], { id: 'w1', documents: { mark: { is: 'put' } } })
    await isRefused(records.append(tooMany))
    assert.equal(await resourcesOf(records), 'a b')
    assert.deepEqual(await valuesOf(records, { key: 'a' }), [0])
    assert.equal(await records.read(thing, 'c', { order: 'asc', limit: 1 }), undefined)
    assert.equal(await documents.get('mark'), undefined)
    assert.equal(await records.answerOf(thing, 'w1', Date.now()), undefined)
    await records.append(limited(3, ['a', 'c'], { id: 'w1' }))
    assert.equal(delivered.length, 2)
  })

  test('append() accepts writes to existing resources, even beyond the limit', async ({ records }) => {
    await records.append(limited(3, ['a', 'b', 'c']))
    for (const maximum of [3, 2, 0]) await records.append(limited(maximum, ['c', 'a']))
    await isRefused(records.append(limited(2, ['d'])))
    await isRefused(records.append(limited(2, ['a', 'd'])))
    const together = [['e'], ['a'], ['f'], ['b', 'a']].map(keys => records.append(limited(2, keys)))
    const outcomes = await Promise.allSettled(together)
    const statuses = outcomes.map(({ status }) => status)
    assert.deepEqual(statuses, ['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    assert.equal((await valuesOf(records, { key: 'a' })).length, 6)
  })

  test('append() counts each key of a thing once, magic keys too', async ({ records }) => {
    await records.append(limited(3, ['a', '$geo', 'a', '$settings.b', '$geo']))
    await isRefused(records.append(limited(3, ['b'])))
    await isRefused(records.append(limited(3, ['$settings.c'])))
    await records.append(limited(3, ['a', 'b', 'c'], { thingId: otherThing }))
  })

  test('append() makes exactly the permitted number of resources from many writes', async ({ records }) => {
    await records.append(limited(10, ['before']))
    const keys = count(30).map(number => `n${number}`)
    const outcomes = await Promise.allSettled(keys.map(name => records.append(limited(10, [name, 'before']))))
    const made = keys.filter((_, place) => outcomes[place]?.status === 'fulfilled')
    assert.deepEqual(made, keys.slice(0, 9))
    for (const outcome of outcomes.slice(9)) {
      await isRefused(outcome.status === 'rejected' ? Promise.reject(outcome.reason) : Promise.resolve())
    }
    assert.equal((await records.resources(thing)).length, 10)
    assert.equal((await valuesOf(records, { key: 'before' })).length, 10)
  })

  test('append() can make a resource in the place of one whose records were removed', async ({ records }) => {
    await records.append(limited(2, ['a', 'b']))
    await isRefused(records.append(limited(2, ['c'])))
    await records.remove(thing, 'a', { to: 0 })
    await isRefused(records.append(limited(2, ['c'])), 'it still holds a record')
    await records.remove(thing, 'a', {})
    await records.append(limited(2, ['c']))
    await isRefused(records.append(limited(2, ['a'])), 'its place is taken')
    await records.removeThing(thing)
    await records.append(limited(2, ['d', 'e']))
    await isRefused(records.append(limited(2, ['f'])))
  })

  test('append() does not limit a write that keeps nothing or repeats an id', async ({ records }) => {
    const first = limited(1, [key], { id: 'w1', answer: { rejected: [] } })
    await records.append(first)
    await records.append(limited(1, ['a', 'b'], { store: false }))
    const repeat = await records.append(limited(1, ['c'], { id: 'w1' }))
    assert.deepEqual(repeat, { writeNumber: 0, answer: first.answer })
    assert.equal(await resourcesOf(records), key)
  })

  test('append() without a maximum makes any number of resources, and they count', async ({ records }) => {
    await records.append(limited(3, ['a']))
    await records.append(write(['b', 'c', 'd'].map(name => received(1, { key: name }))))
    await isRefused(records.append(limited(4, ['e'])))
    await records.append(limited(5, ['e']))
  })

  if (!capabilities.durable) return
  testStage('append() counts resources from before the store was reopened', async stage => {
    const before = await stage.open()
    await before.records.append(limited(3, ['a', 'b']))
    const { records } = await stage.reopen()
    await isRefused(records.append(limited(3, ['c', 'd'])))
    await records.append(limited(3, ['c']))
    await isRefused(records.append(limited(3, ['d'])))
  })
}
