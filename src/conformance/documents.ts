import assert from 'node:assert/strict'
import type { Document, DocumentStore } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { count } from './writes.ts'

async function put(
  documents: DocumentStore,
  changes: Readonly<Record<string, Document | null>>,
): Promise<void> {
  await documents.transact(Object.keys(changes), () => ({ put: changes, result: undefined, purpose: 'keep' }))
}

export function documents({ test, capabilities }: Suite): void {
  test('get() gives a document as it was put, and undefined where there is none', async stage => {
    const { documents } = await stage.open()
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

  test('get() gives a copy that can be changed without changing the store', async stage => {
    const { documents } = await stage.open()
    const list = [1]
    await put(documents, { a: { list } })
    list.push(2)
    const read = (await documents.get('a')) as { list: number[] }
    read.list.push(3)
    assert.deepEqual(await documents.get('a'), { list: [1] })
  })

  test('list() and names() give what starts with the prefix, by name, after a name, up to a limit', async stage => {
    const { documents } = await stage.open()
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

  test('transact() reads the named documents in their order, and gives the result', async stage => {
    const { documents } = await stage.open()
    await put(documents, { a: { is: 'a' }, b: { is: 'b' } })
    const seen = await documents.transact(['b', 'none', 'a'], read => ({
      put: {},
      result: read,
      purpose: 'keep',
    }))
    assert.deepEqual(seen, [{ is: 'b' }, undefined, { is: 'a' }])
    assert.equal(await documents.transact([], () => ({ put: {}, result: 1, purpose: 'keep' })), 1)
  })

  test('transact() puts documents that it did not read', async stage => {
    const { documents } = await stage.open()
    await put(documents, { a: { count: 1 } })
    const change = () => ({ put: { a: null, b: { count: 2 } }, result: undefined, purpose: 'keep' }) as const
    await documents.transact(['c'], change)
    assert.equal(await documents.get('a'), undefined)
    assert.deepEqual(await documents.get('b'), { count: 2 })
  })

  test('transact() puts nothing when the change throws, and passes on what it threw', async stage => {
    const { documents } = await stage.open()
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

  test('transact() loses no increment of many at once', async stage => {
    const { documents } = await stage.open()
    const increments = count(100).map(() =>
      documents.transact(['counter'], ([counter]) => {
        const next = Number(counter?.value ?? 0) + 1
        return { put: { counter: { value: next } }, result: next, purpose: 'keep' }
      }),
    )
    const results = await Promise.all(increments)
    assert.deepEqual(
      results.toSorted((a, b) => a - b),
      count(101).slice(1),
    )
    assert.deepEqual(await documents.get('counter'), { value: 100 })
  })

  test('transact() changes several documents as one', async stage => {
    const { documents } = await stage.open()
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

  test('transact() holds when the store is reopened', async stage => {
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
