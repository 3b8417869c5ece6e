import assert from 'node:assert/strict'
import { type Hold, HoldLost } from '../core/holds.ts'
import type { Store } from '../store/contract.ts'
import { gather } from './gathered.ts'
import type { Stage, Suite } from './stage.ts'
import { listen, numbersOf, readWholeLog, state, stateful } from './views.ts'
import { count, key, measured, received, thing, valuesOf, write } from './writes.ts'

const name = 'client/\u{1f600} a "b"\n'

/** Who may act in whose name: on one process, and of a store that is shared also between two. */
export function holds({ test, capabilities }: Suite): void {
  const settings = [{ where: '', open: one }]
  if (capabilities.shared) settings.push({ where: ' on another node', open: two })
  for (const { where, open } of settings) {
    test(`append() in the name of a hold that was taken meanwhile${where} keeps nothing`, async stage => {
      const [before, after] = await open(stage)
      const lost = await before.holds.take(name)
      await before.records.append(write([received(1)], { hold: lost }))
      const told = listen(before.records)
      const taking = after.holds.take(name)
      // Where it is the same process, this is called while the other one is being committed.
      if (before !== after) await taking
      const refused = before.records.append(
        write([received(2)], {
          hold: lost,
          id: 'a',
          documents: { mark: {} },
          states: [state('lost')],
        }),
      )
      const behind = before.records.append(write([received(3)]))
      await assert.rejects(refused, HoldLost)
      await behind
      const { before: holderBefore } = await taking
      assert.equal(holderBefore, lost.holder)
      assert.deepEqual(await valuesOf(before.records), [1, 3])
      assert.equal(told.length, 1)
      assert.equal(await before.documents.get('mark'), undefined)
      assert.equal(await before.records.state(thing, stateful), undefined)
      assert.equal(await before.records.answerOf(thing, 'a', Date.now()), undefined)
    })

    test(`put() in the name of a hold that was taken meanwhile${where} puts and removes nothing`, async stage => {
      const [before, after] = await open(stage)
      const lost = await before.holds.take(name)
      await before.documents.put({ kept: { is: 1 }, other: { is: 1 } }, 'keep', lost)
      const taking = after.holds.take(name)
      if (before !== after) await taking
      const putting = before.documents.put({ other: { is: 2 }, more: {} }, 'keep', lost)
      const removing = before.documents.put({ kept: null }, 'keep', lost)
      await assert.rejects(putting, HoldLost)
      await assert.rejects(removing, HoldLost)
      await taking
      assert.deepEqual(await after.documents.get('kept'), { is: 1 })
      assert.deepEqual(await after.documents.get('other'), { is: 1 })
      assert.equal(await after.documents.get('more'), undefined)
    })

    test(`removals in the name of a hold that was taken meanwhile${where} remove nothing`, async stage => {
      const [before, after] = await open(stage)
      before.records.logWhen(() => true)
      await before.records.append(write(count(3).map(value => measured(value, value))))
      const lost = await before.holds.take(name)
      const taking = after.holds.take(name)
      if (before !== after) await taking
      const log = await readWholeLog(before.records)
      await assert.rejects(before.records.removeOld(thing, key, 2, undefined, lost), HoldLost)
      await assert.rejects(before.records.trimLog(numbersOf(log), lost), HoldLost)
      await taking
      assert.deepEqual(await valuesOf(before.records), count(3))
      assert.deepEqual(await readWholeLog(before.records), log)
    })

    test(`release() ends a hold behind what it covers${where ? ', of which another node hears' : ''}`, async stage => {
      const [before, after] = await open(stage)
      const hold = await before.holds.take(name)
      const covered = [
        before.records.append(write([received(1)], { hold })),
        before.documents.put({ mark: { is: 1 } }, 'keep', hold),
      ]
      await Promise.all([...covered, before.holds.release(hold)])
      await assert.rejects(before.records.append(write([received(2)], { hold })), HoldLost)
      assert.deepEqual(await valuesOf(after.records), [1])
      assert.deepEqual(await after.documents.get('mark'), { is: 1 })
      assert.equal((await after.holds.take(name)).before, undefined)
    })

    test(`take() tells who has lost the hold${where}, and what it had done can be read`, async stage => {
      const [before, after] = await open(stage)
      const lost = gather<Hold>(listener => before.holds.onLost(listener))
      const first = await before.holds.take(name)
      const other = await before.holds.take('client/other')
      const putting = before.documents.put({ mark: { is: 1 } }, 'keep', first)
      if (before !== after) await putting
      await after.holds.take(name)
      assert.deepEqual(await after.documents.get('mark'), { is: 1 })
      assert.deepEqual(
        (await lost.first(1)).map(({ name, holder }) => [name, holder]),
        [[name, first.holder]],
      )
      await putting
      await before.records.append(write([received(1)], { hold: other }))
    })

    test(`takeFrom() takes a hold from its holder or nobody, and from nobody else${where}`, async stage => {
      const [before, after] = await open(stage)
      const first = await before.holds.take(name)
      assert.equal(await after.holds.takeFrom(name, undefined), undefined)
      assert.equal(await after.holds.takeFrom(name, 'another'), undefined)
      await before.records.append(write([received(1)], { hold: first }))
      const second = await after.holds.takeFrom(name, first.holder)
      assert.equal(second?.before, first.holder)
      await after.records.append(write([received(2)], { hold: second }))
      await before.holds.release(first)
      await after.records.append(write([received(3)], { hold: second }))
      await after.holds.release(second ?? first)
      const third = await before.holds.takeFrom(name, 'another')
      assert.equal(third?.before, undefined)
      assert.deepEqual(await valuesOf(before.records), [1, 2, 3])
    })
  }

  test('append() in the name of a hold that nobody has taken is refused', async stage => {
    const store = await stage.open()
    const hold = { name, holder: 'nobody' }
    await assert.rejects(store.records.append(write([received(1)], { hold })), HoldLost)
    assert.deepEqual(await valuesOf(store.records), [])
  })

  test('take() of hundreds of names, again and again, leaves each with the one that took it last', async stage => {
    const store = await stage.open()
    const names = count(300).map(number => `client/${number}`)
    const takes = await Promise.all([...names, ...names].map(each => store.holds.take(each)))
    const appends = takes.map(hold => store.records.append(write([received(hold.name)], { hold })))
    const results = await Promise.allSettled(appends)
    assert.deepEqual(
      results.map(({ status }) => status),
      takes.map((_, index) => (index < names.length ? 'rejected' : 'fulfilled')),
    )
  })
}

async function one(stage: Stage): Promise<readonly [Store, Store]> {
  const store = await stage.open()
  return [store, store]
}

async function two(stage: Stage): Promise<readonly [Store, Store]> {
  return [await stage.open(), await stage.open()]
}
