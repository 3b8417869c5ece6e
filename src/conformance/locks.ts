import assert from 'node:assert/strict'
import { type Lock, LockLost } from '../core/locks.ts'
import type { Store } from '../store/contract.ts'
import { gather } from './gathered.ts'
import type { Stage, Suite } from './stage.ts'
import { listen, numbersOf, readWholeLog, state, stateful } from './views.ts'
import { count, key, measured, received, thing, valuesOf, write } from './writes.ts'

const name = 'client/\u{1f600} a "b"\n'

/** Who may act in whose name: on one process, and of a store that is shared also between two. */
export function locks({ test, capabilities }: Suite): void {
  const settings = [{ where: '', open: one }]
  if (capabilities.shared) settings.push({ where: ' on another node', open: two })
  for (const { where, open } of settings) {
    test(`append() in the name of a lock that was taken meanwhile${where} keeps nothing`, async stage => {
      const [before, after] = await open(stage)
      const lost = await before.locks.take(name)
      await before.records.append(write([received(1)], { lock: lost }))
      const told = listen(before.records)
      const taking = after.locks.take(name)
      // Where it is the same process, this is called while the other one is being committed.
      if (before !== after) await taking
      const refused = before.records.append(
        write([received(2)], {
          lock: lost,
          id: 'a',
          documents: { mark: {} },
          states: [state('lost')],
        }),
      )
      const behind = before.records.append(write([received(3)]))
      await assert.rejects(refused, LockLost)
      await behind
      const { before: holderBefore } = await taking
      assert.equal(holderBefore, lost.owner)
      assert.deepEqual(await valuesOf(before.records), [1, 3])
      assert.equal(told.length, 1)
      assert.equal(await before.documents.get('mark'), undefined)
      assert.equal(await before.records.state(thing, stateful), undefined)
      assert.equal(await before.records.answerOf(thing, 'a', Date.now()), undefined)
    })

    test(`put() in the name of a lock that was taken meanwhile${where} puts and removes nothing`, async stage => {
      const [before, after] = await open(stage)
      const lost = await before.locks.take(name)
      await before.documents.put({ kept: { is: 1 }, other: { is: 1 } }, 'keep', lost)
      const taking = after.locks.take(name)
      if (before !== after) await taking
      const putting = before.documents.put({ other: { is: 2 }, more: {} }, 'keep', lost)
      const removing = before.documents.put({ kept: null }, 'keep', lost)
      await assert.rejects(putting, LockLost)
      await assert.rejects(removing, LockLost)
      await taking
      assert.deepEqual(await after.documents.get('kept'), { is: 1 })
      assert.deepEqual(await after.documents.get('other'), { is: 1 })
      assert.equal(await after.documents.get('more'), undefined)
    })

    test(`removals in the name of a lock that was taken meanwhile${where} remove nothing`, async stage => {
      const [before, after] = await open(stage)
      before.records.logWhen(() => true)
      await before.records.append(write(count(3).map(value => measured(value, value))))
      const lost = await before.locks.take(name)
      const taking = after.locks.take(name)
      if (before !== after) await taking
      const log = await readWholeLog(before.records)
      await assert.rejects(before.records.removeOld(thing, key, 2, undefined, lost), LockLost)
      await assert.rejects(before.records.trimLog(numbersOf(log), lost), LockLost)
      await taking
      assert.deepEqual(await valuesOf(before.records), count(3))
      assert.deepEqual(await readWholeLog(before.records), log)
    })

    test(`release() ends a lock behind what it covers${where ? ', of which another node hears' : ''}`, async stage => {
      const [before, after] = await open(stage)
      const lock = await before.locks.take(name)
      const covered = [
        before.records.append(write([received(1)], { lock })),
        before.documents.put({ mark: { is: 1 } }, 'keep', lock),
      ]
      await Promise.all([...covered, before.locks.release(lock)])
      await assert.rejects(before.records.append(write([received(2)], { lock })), LockLost)
      assert.deepEqual(await valuesOf(after.records), [1])
      assert.deepEqual(await after.documents.get('mark'), { is: 1 })
      assert.equal((await after.locks.take(name)).before, undefined)
    })

    test(`take() tells who has lost the lock${where}, and what it had done can be read`, async stage => {
      const [before, after] = await open(stage)
      const lost = gather<Lock>(listener => before.locks.onLost(listener))
      const first = await before.locks.take(name)
      const other = await before.locks.take('client/other')
      const putting = before.documents.put({ mark: { is: 1 } }, 'keep', first)
      if (before !== after) await putting
      await after.locks.take(name)
      assert.deepEqual(await after.documents.get('mark'), { is: 1 })
      assert.deepEqual(
        (await lost.first(1)).map(({ name, owner }) => [name, owner]),
        [[name, first.owner]],
      )
      await putting
      await before.records.append(write([received(1)], { lock: other }))
    })

    test(`takeFrom() takes a lock from its owner or nobody, and from nobody else${where}`, async stage => {
      const [before, after] = await open(stage)
      const first = await before.locks.take(name)
      assert.equal(await after.locks.takeFrom(name, undefined), undefined)
      assert.equal(await after.locks.takeFrom(name, 'another'), undefined)
      await before.records.append(write([received(1)], { lock: first }))
      const second = await after.locks.takeFrom(name, first.owner)
      assert.equal(second?.before, first.owner)
      await after.records.append(write([received(2)], { lock: second }))
      await before.locks.release(first)
      await after.records.append(write([received(3)], { lock: second }))
      await after.locks.release(second ?? first)
      const third = await before.locks.takeFrom(name, 'another')
      assert.equal(third?.before, undefined)
      assert.deepEqual(await valuesOf(before.records), [1, 2, 3])
    })
  }

  test('append() in the name of a lock that nobody has taken is refused', async stage => {
    const store = await stage.open()
    const lock = { name, owner: 'nobody' }
    await assert.rejects(store.records.append(write([received(1)], { lock })), LockLost)
    assert.deepEqual(await valuesOf(store.records), [])
  })

  test('take() of hundreds of names, again and again, leaves each with the one that took it last', async stage => {
    const store = await stage.open()
    const names = count(300).map(number => `client/${number}`)
    const takes = await Promise.all([...names, ...names].map(each => store.locks.take(each)))
    const appends = takes.map(lock => store.records.append(write([received(lock.name)], { lock })))
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
