import assert from 'node:assert/strict'
import { type Lock, LockLost } from '../core/locks.ts'
import type { Store } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { received, valuesOf, write } from './writes.ts'

/** Who is there and who does what, of a store that several processes have open at once. */
export function leading({ test, capabilities }: Suite): void {
  if (!capabilities.shared) return

  test('alive() has every node that is open, each with a name of its own', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    assert.notEqual(one.nodes.self, other.nodes.self)
    const both = new Set([one.nodes.self, other.nodes.self])
    assert.deepEqual(await one.nodes.alive(), both)
    assert.deepEqual(await other.nodes.alive(), both)
    await other.close()
    assert.deepEqual(await one.nodes.alive(), new Set([one.nodes.self]))
    const again = await stage.open()
    assert.equal(both.has(again.nodes.self), false)
  })

  test('lead() has one node at a time do a task, and hands it on when that gives it up or closes', async stage => {
    const stores = [await stage.open(), await stage.open(), await stage.open()]
    const terms: Store[] = []
    const changes = new Map<number, () => void>()
    let working = 0
    const term = (number: number) => new Promise<void>(resolve => changes.set(number, resolve))
    const [first, second, third] = [term(1), term(2), term(3)]
    const giveUps = stores.map(({ nodes }, index) =>
      nodes.lead('task', async stop => {
        working++
        assert.equal(working, 1, 'two nodes do one task')
        terms.push(stores[index] ?? assert.fail())
        changes.get(terms.length)?.()
        await new Promise(resolve => stop.addEventListener('abort', resolve, { once: true }))
        working--
      }),
    )
    await first
    await giveUps[stores.indexOf(terms[0] ?? assert.fail())]?.()
    await second
    await terms[1]?.close()
    await third
    assert.equal(new Set(terms).size, 3)
    await Promise.all(giveUps.map(giveUp => giveUp()))
    assert.equal(working, 0)
  })

  test('append() in the name of a task is refused once another node leads it', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const lead = (store: Store) =>
      new Promise<[Lock, () => Promise<void>]>(resolve => {
        const giveUp = store.nodes.lead('task', async (stop, lock) => {
          setImmediate(() => resolve([lock, giveUp]))
          await new Promise(ended => stop.addEventListener('abort', ended, { once: true }))
        })
      })
    const [first, giveUp] = await lead(one)
    await one.records.append(write([received(1)], { lock: first }))
    await giveUp()
    await assert.rejects(one.records.append(write([received(2)], { lock: first })), LockLost)
    const [second] = await lead(other)
    await other.records.append(write([received(3)], { lock: second }))
    await assert.rejects(one.records.append(write([received(4)], { lock: first })), LockLost)
    assert.deepEqual(await valuesOf(one.records), [1, 3])
  })
}
