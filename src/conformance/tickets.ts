import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { state, stateful } from './views.ts'
import { appendTo, givenUp, readAll, received, thing, waitedFor, write } from './writes.ts'

/** What a driver does with a write that is no longer waited for; `openStore` hides the driver, so here it is bare. */
export function tickets({ test }: Suite): void {
  test('append() of a driver drops a write whose ticket has expired', async stage => {
    const driver = stage.place.driver()
    await driver.open()
    try {
      const { records } = driver
      const told: number[] = []
      records.onCommit(({ writeNumber }) => told.push(writeNumber))
      const before = appendTo(records, write([received('before')]), waitedFor())
      const dropped = appendTo(
        records,
        write([received('dropped')], { id: 'a', states: [state('dropped')] }),
        givenUp,
      )
      const after = appendTo(records, write([received('after')]), waitedFor())
      await assert.rejects(dropped, { reason: 'store_timeout' })
      await Promise.all([before, after])
      assert.deepEqual(
        (await readAll(records)).map(({ value }) => value),
        ['"before"', '"after"'],
      )
      assert.equal(await records.answerOf(thing, 'a', Date.now()), undefined)
      assert.equal(await records.state(thing, stateful), undefined)
      assert.equal(told.length, 2)
      const again = await appendTo(records, write([received('again')], { id: 'a' }), waitedFor())
      assert.notEqual(again.writeNumber, 0)
    } finally {
      await driver.close()
    }
  })
}
