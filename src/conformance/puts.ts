import assert from 'node:assert/strict'
import type { Document } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count, givenUp, putTo, readDuring, waitedFor } from './writes.ts'

export function puts({ test, capabilities }: Suite): void {
  test('put() puts and removes documents, whatever is there, and leaves the others', async stage => {
    const { documents } = await stage.open()
    await documents.put({ a: { is: 1 }, b: { is: 2 }, c: { is: 3 } }, 'keep')
    await documents.put({ a: { was: 1 }, b: null, never: null }, 'keep')
    await documents.put({}, 'keep')
    const all = await documents.list('', { limit: 10 })
    assert.deepEqual(all, [
      ['a', { was: 1 }],
      ['c', { is: 3 }],
    ])
  })

  test('put() takes the documents as they are when it is called', async stage => {
    const { documents } = await stage.open()
    const list = [1]
    const putting = documents.put({ a: { list } }, 'keep')
    list.push(2)
    await putting
    assert.deepEqual(await documents.get('a'), { list: [1] })
  })

  test('put() takes effect in the order of the calls', async stage => {
    const { documents } = await stage.open()
    const calls = count(200).map(call =>
      documents.put({ last: { call }, [`odd ${call % 2}`]: { call } }, 'keep'),
    )
    await Promise.all([...calls, documents.put({ 'odd 0': null }, 'keep')])
    assert.deepEqual(await documents.get('last'), { call: 199 })
    assert.deepEqual(await documents.get('odd 1'), { call: 199 })
    assert.equal(await documents.get('odd 0'), undefined)
  })

  test('put() comes before a transact() that is called after it, and after one called before it', async stage => {
    const { documents } = await stage.open()
    const increment = () =>
      documents.transact(['counter'], ([counter]) => {
        const value = Number(counter?.value ?? 0) + 1
        return { put: { counter: { value } }, result: value, purpose: 'keep' }
      })
    const rounds = count(20).map(async round => {
      const putting = documents.put({ counter: { value: round * 100 } }, 'keep')
      const results = await Promise.all([increment(), increment()])
      await putting
      return results
    })
    assert.deepEqual(
      await Promise.all(rounds),
      count(20).map(round => [round * 100 + 1, round * 100 + 2]),
    )
    const last = [increment(), documents.put({ counter: { value: -1 } }, 'keep')]
    await Promise.all(last)
    assert.deepEqual(await documents.get('counter'), { value: -1 })
  })

  test('put() does not change what a transact() has read', async stage => {
    const { documents } = await stage.open()
    const move = (from: string, to: string) =>
      documents.transact([from, to], ([source, target]) => ({
        put: { [from]: { has: Number(source?.has) - 1 }, [to]: { has: Number(target?.has) + 1 } },
        result: Number(source?.has) + Number(target?.has),
        purpose: 'keep',
      }))
    const sums = count(50).flatMap(round => {
      const reset = documents.put({ a: { has: round }, b: { has: -round } }, 'keep').then(() => 0)
      return [reset, move('a', 'b'), move('b', 'a')]
    })
    assert.deepEqual(await Promise.all(sums), Array(150).fill(0))
    assert.deepEqual([await documents.get('a'), await documents.get('b')], [{ has: 49 }, { has: -49 }])
  })

  test('put() shows several documents to readers as one', async stage => {
    const { documents } = await stage.open()
    const names = count(50).map(name => `together/${name}`)
    const putAll = (round: number) =>
      documents.put(Object.fromEntries(names.map(name => [name, { round }])), 'keep')
    await putAll(0)
    const putRounds = async () => {
      for (const round of count(50)) await putAll(round)
    }
    await readDuring(putRounds(), async () => {
      const read = await documents.list('together/', { limit: 100 })
      assert.equal(read.length, names.length)
      assert.equal(new Set(read.map(([, { round }]) => round)).size, 1, 'a reader saw part of a put')
    })
  })

  test('put() of a driver drops what is no longer waited for', async stage => {
    const { documents } = await stage.openDriver()
    const before = putTo(documents, { a: { is: 'before' }, b: { is: 'before' } }, waitedFor())
    const dropped = putTo(documents, { a: { is: 'dropped' }, b: null, c: {} }, givenUp)
    await assert.rejects(dropped, { reason: 'store_timeout' })
    await before
    const all: (readonly [string, Document])[] = [
      ['a', { is: 'before' }],
      ['b', { is: 'before' }],
    ]
    assert.deepEqual(await documents.list('', { limit: 10 }), all)
  })

  if (!capabilities.durable) return

  test('put() that resolved holds when the store is reopened, close() while it puts included', async stage => {
    const before = await stage.open()
    await before.documents.put({ gone: {}, stays: { is: 1 } }, 'keep')
    const acknowledged: string[] = []
    const putting = count(200).map(async round => {
      const name = `put/${String(round).padStart(3, '0')}`
      await before.documents.put({ [name]: { round }, [`${name}/pair`]: { round }, gone: null }, 'keep')
      acknowledged.push(name)
    })
    await Promise.all([...putting, before.close()])
    const { documents } = await stage.open()
    const names = (await documents.list('put/', { limit: 1_000 })).map(([name]) => name)
    assert.deepEqual(
      names,
      acknowledged.toSorted().flatMap(name => [name, `${name}/pair`]),
    )
    assert.equal(await documents.get('gone'), undefined)
    assert.deepEqual(await documents.get('stays'), { is: 1 })
  })
}
