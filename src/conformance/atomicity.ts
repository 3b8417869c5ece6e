import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { count, measured, readAll, readDuring, received, valuesOf, write } from './writes.ts'

export function atomicity({ test }: Suite): void {
  test('append() keeps every record of a write, in all its resources', async stage => {
    const { records } = await stage.open()
    const keys = ['a', 'b', 'c']
    await records.append(write(count(3_000).map(value => received(value, { key: keys[value % 3] ?? '' }))))
    for (const [index, key] of keys.entries()) {
      assert.deepEqual(
        await valuesOf(records, { key }),
        count(3_000).filter(value => value % 3 === index),
      )
    }
  })

  test('append() shows a write to readers whole or not at all', async stage => {
    const { records } = await stage.open()
    const size = 200
    const appendAll = async () => {
      for (const round of count(20)) {
        await records.append(write(count(size).map(value => measured(value, `${round} ${value}`))))
      }
    }
    const seen = new Set<number>()
    await readDuring(appendAll(), async () => seen.add((await readAll(records)).length))
    for (const length of seen) assert.equal(length % size, 0, `a reader saw ${length} records`)
    assert.equal((await readAll(records)).length, 20 * size)
  })

  test('append() has its records read back as soon as it resolves', async stage => {
    const { records } = await stage.open()
    for (const value of count(20)) {
      await records.append(write([received(value)]))
      assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), [value])
    }
  })
}
