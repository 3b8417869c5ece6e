import assert from 'node:assert/strict'
import type { Document, DocumentStore } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count, givenUp, putTo, readDuring, waitedFor } from './writes.ts'

async function put(
  documents: DocumentStore,
  changes: Readonly<Record<string, Document | null>>,
): Promise<void> {
  await documents.transact(Object.keys(changes), () => ({ put: changes, result: undefined, purpose: 'keep' }))
}

export function documents({ test, testStage, capabilities }: Suite): void {
  test('get() gives a document as it was put, and undefined if there is none', async ({ documents }) => {
    const document = {
      name: 'a \u{1f600} \ud800',
      count: 1e308,
      none: null,
      list: [1, { deep: [] }],
      yes: true,
    }
    await put(documents, { 'things/a': document })
    assert.deepEqual(await documents.get('things/a'), document)
    for (const name of ['things/', 'things/A', 'things/aa', 'thing', '', '__proto__', 'constructor']) {
      assert.equal(await documents.get(name), undefined, name)
    }
    await put(documents, { 'things/a': { name: 'b' } })
    assert.deepEqual(await documents.get('things/a'), { name: 'b' })
    await put(documents, { 'things/a': null, 'things/never': null })
    assert.equal(await documents.get('things/a'), undefined)
  })

  test('get() gives a copy that can be changed without changing the store', async ({ documents }) => {
    const list = [1]
    await put(documents, { a: { list } })
    list.push(2)
    const read = (await documents.get('a')) as { list: number[] }
    read.list.push(3)
    assert.deepEqual(await documents.get('a'), { list: [1] })
  })

  test('list() and names() give names by prefix, start and limit, sorted', async ({ documents }) => {
    const names = ['a', 'a/1', 'a/10', 'a/2', 'a/b/c', 'a0', 'b/1', 'a/', 'A/1', 'a.1', 'a-1']
    await put(documents, Object.fromEntries(names.map(name => [name, { name }])))
    const list = async (prefix: string, options: { after?: string; limit: number }) => {
      const found = (await documents.list(prefix, options)).map(([name, document]) => {
        assert.deepEqual(document, { name })
        return name
      })
      assert.deepEqual(await documents.names(prefix, options), found)
      return found
    }
    assert.deepEqual(await list('a/', { limit: 100 }), ['a/', 'a/1', 'a/10', 'a/2', 'a/b/c'])
    assert.deepEqual(await list('a/1', { limit: 100 }), ['a/1', 'a/10'])
    assert.deepEqual(await list('a/', { limit: 2 }), ['a/', 'a/1'])
    assert.deepEqual(await list('a/', { after: 'a/1', limit: 2 }), ['a/10', 'a/2'])
    assert.deepEqual(await list('a/', { after: 'a/15', limit: 100 }), ['a/2', 'a/b/c'])
    assert.deepEqual(await list('a/', { after: 'a/b/c', limit: 100 }), [])
    assert.deepEqual(await list('a/', { after: 'A', limit: 1 }), ['a/'])
    assert.deepEqual(await list('a/', { after: 'z', limit: 100 }), [])
    assert.deepEqual(await list('c', { limit: 100 }), [])
    assert.deepEqual(await list('', { limit: 100 }), names.toSorted())
  })

  test('transact() reads the documents in the given order, and gives the result', async ({ documents }) => {
    await put(documents, { a: { is: 'a' }, b: { is: 'b' } })
    const seen = await documents.transact(['b', 'none', 'a'], read => ({
      put: {},
      result: read,
      purpose: 'keep',
    }))
    assert.deepEqual(seen, [{ is: 'b' }, undefined, { is: 'a' }])
    assert.equal(await documents.transact([], () => ({ put: {}, result: 1, purpose: 'keep' })), 1)
  })

  test('transact() puts documents that it did not read', async ({ documents }) => {
    await put(documents, { a: { count: 1 } })
    const change = () => ({ put: { a: null, b: { count: 2 } }, result: undefined, purpose: 'keep' }) as const
    await documents.transact(['c'], change)
    assert.equal(await documents.get('a'), undefined)
    assert.deepEqual(await documents.get('b'), { count: 2 })
  })

  test('transact() puts nothing if the change throws, and rejects with its error', async ({ documents }) => {
    await put(documents, { a: { count: 1 } })
    const refusal = new Error('no')
    const refused = documents.transact(['a'], () => {
      throw refusal
    })
    await assert.rejects(refused, error => error === refusal)
    assert.deepEqual(await documents.get('a'), { count: 1 })
    await put(documents, { a: { count: 2 } })
    assert.deepEqual(await documents.get('a'), { count: 2 })
  })

  test('transact() loses none of many concurrent increments', async ({ documents }) => {
    const increments = count(100).map(() =>
      documents.transact(['counter'], ([counter]) => {
        const next = Number(counter?.value ?? 0) + 1
        return { put: { counter: { value: next } }, result: next, purpose: 'keep' }
      }),
    )
    const results = await Promise.all(increments)
    const sorted = results.toSorted((a, b) => a - b)
    assert.deepEqual(sorted, count(101).slice(1))
    assert.deepEqual(await documents.get('counter'), { value: 100 })
  })

  test('transact() changes several documents atomically', async ({ documents }) => {
    const total = 1_000
    await put(documents, { a: { has: total }, b: { has: 0 } })
    const move = (from: string, to: string, amount: number) =>
      documents.transact([from, to], ([source, target]) => ({
        put: {
          [from]: { has: Number(source?.has) - amount },
          [to]: { has: Number(target?.has) + amount },
        },
        result: undefined,
        purpose: 'keep',
      }))
    const sum = () =>
      documents.transact(['a', 'b'], read => ({
        put: {},
        result: read.reduce((held, document) => held + Number(document?.has), 0),
        purpose: 'keep',
      }))
    const working = count(100).flatMap(amount => [
      move('a', 'b', amount).then(() => total),
      move('b', 'a', amount * 2).then(() => total),
      sum(),
    ])
    assert.deepEqual(await Promise.all(working), Array(300).fill(total))
    assert.deepEqual([await documents.get('a'), await documents.get('b')], [{ has: 5_950 }, { has: -4_950 }])
  })

  if (!capabilities.durable) return

  testStage('transact() still holds when the store is reopened', async stage => {
    const before = await stage.open()
    await put(before.documents, { a: { is: 'a' }, b: { is: 'b' } })
    await put(before.documents, { b: null, c: { is: 'c' } })
    const { documents } = await stage.reopen()
    const all = await documents.list('', { limit: 10 })
    assert.deepEqual(all, [
      ['a', { is: 'a' }],
      ['c', { is: 'c' }],
    ])
  })
}

export function puts({ test, testStage, capabilities }: Suite): void {
  test('put() puts and removes documents, present or not, and leaves the others', async ({ documents }) => {
    await documents.put({ a: { is: 1 }, b: { is: 2 }, c: { is: 3 } }, 'keep')
    await documents.put({ a: { was: 1 }, b: null, never: null }, 'keep')
    await documents.put({}, 'keep')
    const all = await documents.list('', { limit: 10 })
    assert.deepEqual(all, [
      ['a', { was: 1 }],
      ['c', { is: 3 }],
    ])
  })

  test('put() copies the documents when it is called', async ({ documents }) => {
    const list = [1]
    const putting = documents.put({ a: { list } }, 'keep')
    list.push(2)
    await putting
    assert.deepEqual(await documents.get('a'), { list: [1] })
  })

  test('put() takes effect in the order of the calls', async ({ documents }) => {
    const calls = count(200).map(call =>
      documents.put({ last: { call }, [`odd ${call % 2}`]: { call } }, 'keep'),
    )
    await Promise.all([...calls, documents.put({ 'odd 0': null }, 'keep')])
    assert.deepEqual(await documents.get('last'), { call: 199 })
    assert.deepEqual(await documents.get('odd 1'), { call: 199 })
    assert.equal(await documents.get('odd 0'), undefined)
  })

  test('put() and transact() take effect in the order of the calls', async ({ documents }) => {
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
    const expected = count(20).map(round => [round * 100 + 1, round * 100 + 2])
    assert.deepEqual(await Promise.all(rounds), expected)
    const last = [increment(), documents.put({ counter: { value: -1 } }, 'keep')]
    await Promise.all(last)
    assert.deepEqual(await documents.get('counter'), { value: -1 })
  })

  test('put() never comes between the read and the put of a transact()', async ({ documents }) => {
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

  test('put() changes several documents atomically for readers', async ({ documents }) => {
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

  testStage('put() of a driver drops documents whose ticket has expired', async stage => {
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

  testStage('put() that resolved during close() still holds when the store is reopened', async stage => {
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
    const expected = acknowledged.toSorted().flatMap(name => [name, `${name}/pair`])
    assert.deepEqual(names, expected)
    assert.equal(await documents.get('gone'), undefined)
    assert.deepEqual(await documents.get('stays'), { is: 1 })
  })
}
