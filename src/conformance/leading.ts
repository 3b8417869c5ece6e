import assert from 'node:assert/strict'
import type { Store } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { state } from './views.ts'
import { received, thing, valuesOf, write } from './writes.ts'

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

  test('append() of a task is refused as a whole unless the node leads it', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const of = (value: unknown, id: string) =>
      write([received(value)], { lead: 'task', id, documents: { [id]: {} }, states: [state(value)] })
    const appended = new Promise<unknown>((resolve, reject) => {
      one.nodes.lead('task', () => one.records.append(of(1, 'a')).then(resolve, reject))
    })
    await appended
    const refused = other.records.append(of(2, 'b'))
    const behind = other.records.append(write([received(3)]))
    await assert.rejects(refused, { reason: 'store_unavailable' })
    await behind
    await assert.rejects(other.records.append(of(2, 'a')), { reason: 'store_unavailable' })
    await assert.rejects(one.records.append({ ...of(2, 'b'), lead: 'another' }), {
      reason: 'store_unavailable',
    })
    assert.deepEqual(await valuesOf(one.records), [1, 3])
    assert.equal((await one.records.state(thing, '$geo'))?.value, '1')
    assert.equal(await one.documents.get('b'), undefined)
    assert.equal(await one.records.answerOf(thing, 'b', received(1).datetime), undefined)
  })
}
