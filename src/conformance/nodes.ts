import assert from 'node:assert/strict'
import type { Commit, RefusedWrite, Store } from '../store/contract.ts'
import { type Gathered, gather } from './gathered.ts'
import { full } from './refused-writes.ts'
import type { Suite } from './stage.ts'
import { listen, numbersOf, plain, put, readWholeLog, state } from './views.ts'
import { count, measured, otherThing, readAll, received, thing, valuesOf, write } from './writes.ts'

/** What nodes hear of one another, of a store that several processes have open at once. */
export function nodes({ test, capabilities }: Suite): void {
  if (!capabilities.shared) return

  test('onCommit() tells what another node commits, in commit order and as that node was told', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const [toldOne, toldOther] = [listen(one.records), commitsOf(other)]
    for (const value of count(20)) {
      await one.records.append(write([received(value)], { states: [state(value)] }))
    }
    await one.records.append(write([received('live')], { store: false }))
    await one.records.append(put([state('alone')], { broadcast: false }))
    await one.records.remove(thing, 'temperature', {})
    assert.equal(toldOne.length, 23)
    const elsewhere = toldOne.map(commit => ({ ...commit, isElsewhere: true }))
    assert.deepEqual(await toldOther.first(23), elsewhere)
  })

  test('onCommit() tells what is appended on two nodes in one order, which is that of reading', async stage => {
    const stores = [await stage.open(), await stage.open()] as const
    const told = stores.map(commitsOf)
    const appends = count(200).map(value =>
      stores[value % 2 ? 1 : 0].records.append(write([received(value)])),
    )
    await Promise.all(appends)
    const [first = [], second = []] = await Promise.all(told.map(each => each.first(200)))
    assert.deepEqual(valuesIn(first), valuesIn(second))
    assert.deepEqual(numbersOf(first), numbersOf(second))
    for (const { records } of stores) assert.deepEqual(await valuesOf(records), valuesIn(first))
    const marked = (commits: readonly Commit[]) =>
      commits
        .filter(({ isElsewhere }) => isElsewhere)
        .map(({ records: [record] }) => Number(record?.value) % 2)
    assert.deepEqual(new Set(marked(first)), new Set([1]))
    assert.deepEqual(new Set(marked(second)), new Set([0]))
    assert.equal(marked(first).length + marked(second).length, 200)
  })

  test('onCommit() has what another node has committed readable when it is called', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const reads: Promise<number>[] = []
    other.records.onCommit(() => {
      reads.push(
        readAll(other.records).then(
          ({ length }) => length,
          () => 0,
        ),
      )
    })
    const told = commitsOf(other)
    for (const value of count(10)) await one.records.append(write([received(value)]))
    await told.first(10)
    const lengths = await Promise.all(reads)
    assert.ok(
      lengths.every((length, index) => length > index),
      `found ${lengths}`,
    )
  })

  test('append() knows a write id, a stored record and the resource limit of another node', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const rejected = [{ index: 1, field: 'key', reason: 'invalid_key' as const, message: 'no' }]
    const record = measured(1_000, 1)
    await one.records.append(write([record], { id: 'a', answer: { rejected } }))
    assert.deepEqual(await other.records.append(write([received(2)], { id: 'a' })), {
      writeNumber: 0,
      answer: { rejected },
    })
    assert.deepEqual(await other.records.answerOf(thing, 'a', Date.now()), { rejected })
    await other.records.append(write([record]))
    assert.deepEqual(await valuesOf(one.records), [1])
    const second = write([received(1, { key: 'b' })], { maximumResources: 1 })
    await assert.rejects(other.records.append(second), { reason: 'too_many_resources' })
  })

  test('append() of one write id on two nodes at once keeps one write', async stage => {
    const stores = [await stage.open(), await stage.open()] as const
    const ids = count(50).map(String)
    const appends = ids.flatMap(id =>
      stores.map(({ records }, node) => records.append(write([received(`${id} ${node}`)], { id }))),
    )
    const numbers = (await Promise.all(appends)).map(({ writeNumber }) => writeNumber)
    assert.equal(numbers.filter(number => number > 0).length, ids.length)
    assert.equal((await readAll(stores[0].records)).length, ids.length)
  })

  test('readLog() gives on each node what was committed on all', async stage => {
    const stores = [await stage.open(), await stage.open()] as const
    for (const value of count(20)) await stores[value % 2 ? 1 : 0].records.append(write([received(value)]))
    const [log, logOfOther] = [await readWholeLog(stores[0].records), await readWholeLog(stores[1].records)]
    assert.deepEqual(valuesIn(log), count(20))
    assert.deepEqual(logOfOther, log)
    assert.ok(log.every(commit => commit.isElsewhere === undefined))
  })

  test('onDocuments() tells names that another node has put or removed, in commit order, and no own', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const told = documentsToldTo(other)
    const toldOne = documentsToldTo(one)
    const name = 'd/"\n\u{1f600}'
    await one.documents.put({ a: { is: 1 }, b: {} }, 'keep')
    await one.records.append(write([received(1)], { documents: { [name]: {}, a: null } }))
    await one.documents.transact(['b'], () => ({ put: { b: null, c: {} }, result: 0, purpose: 'keep' }))
    await one.records.append(write([received(1)], { id: 'i' }))
    await one.records.append(write([received(1)], { id: 'i', documents: { repeat: {} } }))
    await one.documents.put({ last: {} }, 'keep')
    assert.deepEqual(await told.first(5), [['a', 'b'], [name, 'a'], ['b', 'c'], ['repeat'], ['last']])
    await other.documents.put({ back: {} }, 'keep')
    assert.deepEqual(await toldOne.first(1), [['back']])
    assert.equal((await told.first(5)).length, 5)
  })

  test('onDocuments() has what it names readable, and tells it before the commit it was put with', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const events: string[] = []
    const reads: Promise<unknown>[] = []
    other.nodes.onDocuments(() => {
      events.push('documents')
      reads.push(other.documents.get('a').catch(() => undefined))
    })
    other.records.onCommit(() => events.push('commit'))
    const told = commitsOf(other)
    await one.records.append(write([received(1)], { documents: { a: { is: 1 } } }))
    await told.first(1)
    assert.deepEqual(events, ['documents', 'commit'])
    assert.deepEqual(await Promise.all(reads), [{ is: 1 }])
  })

  test('onRefused() tells what another node has added, and nothing of its own', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const told = gather<[string, RefusedWrite]>(listener =>
      other.nodes.onRefused((...entry) => listener(entry)),
    )
    const refused = (datetime: number): RefusedWrite => ({ ...full, datetime })
    await other.refused.add(thing, refused(1))
    await one.refused.add(thing, refused(2))
    await one.refused.add(otherThing, refused(3))
    assert.deepEqual(await told.first(2), [
      [thing, refused(2)],
      [otherThing, refused(3)],
    ])
    assert.deepEqual(await other.refused.list(thing, 10), [refused(2), refused(1)])
  })
}

function valuesIn(commits: readonly Commit[]): unknown[] {
  return commits.map(({ records: [record] }) => JSON.parse(record?.value ?? ''))
}

function commitsOf({ records }: Store): Gathered<Commit> {
  return gather(listener => records.onCommit(commit => listener(plain(commit))))
}

function documentsToldTo({ nodes }: Store): Gathered<readonly string[] | undefined> {
  return gather(listener => nodes.onDocuments(listener))
}
