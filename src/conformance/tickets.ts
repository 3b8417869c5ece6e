import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DriverRecords, Receipt } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen, plain, readWholeLog, state, stateful } from './views.ts'
import { appendTo, count, givenUp, readAll, received, thing, valuesOf, waitedFor, write } from './writes.ts'

/** What a driver does with a write that is no longer waited for; `openStore` hides the driver, so here it is bare. */
export function tickets({ test }: Suite): void {
  test('append() of a driver drops a write whose ticket has expired', async stage => {
    const { records } = await stage.openDriver()
    const told = listen(records)
    const before = appendTo(records, write([received('before')]), waitedFor())
    const dropped = appendTo(
      records,
      write([received('dropped')], { id: 'a', states: [state('dropped')] }),
      givenUp,
    )
    const after = appendTo(records, write([received('after')]), waitedFor())
    await assert.rejects(dropped, { reason: 'store_timeout' })
    await Promise.all([before, after])
    assert.deepEqual(await valuesOf(records), ['before', 'after'])
    assert.equal(await records.answerOf(thing, 'a', Date.now()), undefined)
    assert.equal(await records.state(thing, stateful), undefined)
    assert.equal(told.length, 2)
    const again = await appendTo(records, write([received('again')], { id: 'a' }), waitedFor())
    assert.notEqual(again.writeNumber, 0)
  })

  test('append() of a driver tells and logs a commit whose ticket has expired meanwhile like any other', async stage => {
    const { records } = await stage.openDriver()
    const told = listen(records)
    const tried = await expireMeanwhile(records)
    const kept = tried.filter(({ receipt }) => receipt !== undefined)
    assert.ok(
      kept.some(({ isLate }) => isLate),
      'no ticket expired before its write was committed',
    )
    // Behind everything that was begun.
    await records.catchUp()
    const tellings = told.map(({ records, broadcast }) => [records[0]?.value, broadcast])
    assert.deepEqual(
      tellings,
      kept.map(({ value, broadcast }) => [JSON.stringify(value), broadcast]),
    )
    assert.deepEqual((await readWholeLog(records)).map(plain), told)
    assert.deepEqual(
      (await readAll(records)).map(({ value }) => value),
      tellings.map(([value]) => value),
    )
  })
}

interface Tried {
  readonly value: number
  readonly broadcast: boolean
  /** Whether its ticket had expired when it was settled. */
  readonly isLate: boolean
  /** undefined: it was dropped. */
  readonly receipt: Receipt | undefined
}

/** Appends one record each, whose tickets expire at some moment between the call and the commit, or later. */
async function expireMeanwhile(records: DriverRecords): Promise<Tried[]> {
  const tried: Tried[] = []
  for (const value of count(40)) {
    const ticket = { ...waitedFor(), expired: false }
    const expire = () => {
      ticket.expired = true
    }
    // A store that asks this has begun with the write.
    records.logWhen(() => {
      if (value % 2 === 0) expire()
      return true
    })
    const broadcast = value % 4 < 2
    const append = appendTo(records, write([received(value)], { broadcast }), ticket)
    if (value % 2 === 1) {
      for (let turns = value % 3; turns > 0; turns--) await nextTurn()
      expire()
    }
    const receipt = await append.catch((error: { reason?: string }) => {
      assert.equal(error.reason, 'store_timeout')
      return undefined
    })
    tried.push({ value, broadcast, isLate: ticket.expired, receipt })
  }
  return tried
}
