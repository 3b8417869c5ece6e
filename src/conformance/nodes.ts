import assert from 'node:assert/strict'
import { type Lock, LockLost } from '../core/locks.ts'
import type { Commit, RefusedWrite, Store } from '../store/contract.ts'
import { full } from './documents-with-writes.ts'
import { type Gathered, gather } from './gathered.ts'
import type { Stage, Suite } from './stage.ts'
import { listen, numbersOf, plain, put, readWholeLog, state, stateful } from './views.ts'
import { count, key, measured, otherThing, readAll, received, thing, valuesOf, write } from './writes.ts'

/** Tests that the nodes of a `shared` store see the writes and changes of other nodes. */
export function nodes({ testStage, capabilities }: Suite): void {
  if (!capabilities.shared) return
  const test = testOfTwo(testStage, twoNodes)

  test('onCommit() delivers the commits of another node unchanged and in order', async ([one, other]) => {
    const [deliveredOne, deliveredOther] = [listen(one.records), commitsOf(other)]
    for (const value of count(20)) {
      await one.records.append(write([received(value)], { states: [state(value)] }))
    }
    await one.records.append(write([received('live')], { store: false }))
    await one.records.append(put([state('alone')], { broadcast: false }))
    await one.records.remove(thing, 'temperature', {})
    assert.equal(deliveredOne.length, 23)
    const elsewhere = deliveredOne.map(commit => ({ ...commit, isElsewhere: true }))
    assert.deepEqual(await deliveredOther.first(23), elsewhere)
  })

  test('onCommit() delivers the commits of two nodes in the order of their records', async stores => {
    const delivered = stores.map(commitsOf)
    const appends = count(200).map(value =>
      stores[value % 2 ? 1 : 0].records.append(write([received(value)])),
    )
    await Promise.all(appends)
    const [first = [], second = []] = await Promise.all(delivered.map(each => each.first(200)))
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

  test('onCommit() is called when the records of another node can be read', async ([one, other]) => {
    const reads: Promise<number>[] = []
    other.records.onCommit(() => {
      reads.push(
        readAll(other.records).then(
          ({ length }) => length,
          () => 0,
        ),
      )
    })
    const delivered = commitsOf(other)
    for (const value of count(10)) await one.records.append(write([received(value)]))
    await delivered.first(10)
    const lengths = await Promise.all(reads)
    const isRead = lengths.every((length, index) => length > index)
    assert.ok(isRead, `found ${lengths}`)
  })

  test('append() heeds write ids, records and resources from another node', async ([one, other]) => {
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

  test('append() of one write id on two nodes at once keeps one write', async stores => {
    const ids = count(50).map(String)
    const appends = ids.flatMap(id =>
      stores.map(({ records }, node) => records.append(write([received(`${id} ${node}`)], { id }))),
    )
    const numbers = (await Promise.all(appends)).map(({ writeNumber }) => writeNumber)
    assert.equal(numbers.filter(number => number > 0).length, ids.length)
    assert.equal((await readAll(stores[0].records)).length, ids.length)
  })

  test('readLog() gives each node the commits of all nodes', async stores => {
    for (const value of count(20)) await stores[value % 2 ? 1 : 0].records.append(write([received(value)]))
    const [log, logOfOther] = [await readWholeLog(stores[0].records), await readWholeLog(stores[1].records)]
    assert.deepEqual(valuesIn(log), count(20))
    assert.deepEqual(logOfOther, log)
    assert.ok(log.every(commit => commit.isElsewhere === undefined))
  })

  test('onDocuments() delivers only changes of another node, in commit order', async ([one, other]) => {
    const delivered = documentsSeenBy(other)
    const deliveredOne = documentsSeenBy(one)
    const name = 'd/"\n\u{1f600}'
    await one.documents.put({ a: { is: 1 }, b: {} }, 'keep')
    await one.records.append(write([received(1)], { documents: { [name]: {}, a: null } }))
    await one.documents.transact(['b'], () => ({ put: { b: null, c: {} }, result: 0, purpose: 'keep' }))
    await one.records.append(write([received(1)], { id: 'i' }))
    await one.records.append(write([received(1)], { id: 'i', documents: { repeat: {} } }))
    await one.documents.put({ last: {} }, 'keep')
    assert.deepEqual(await delivered.first(5), [['a', 'b'], [name, 'a'], ['b', 'c'], ['repeat'], ['last']])
    await other.documents.put({ back: {} }, 'keep')
    assert.deepEqual(await deliveredOne.first(1), [['back']])
    assert.equal((await delivered.first(5)).length, 5)
  })

  test('onDocuments() is called when the documents can be read, before onCommit()', async ([one, other]) => {
    const events: string[] = []
    const reads: Promise<unknown>[] = []
    other.nodes.onDocuments(() => {
      events.push('documents')
      reads.push(other.documents.get('a').catch(() => undefined))
    })
    other.records.onCommit(() => events.push('commit'))
    const delivered = commitsOf(other)
    await one.records.append(write([received(1)], { documents: { a: { is: 1 } } }))
    await delivered.first(1)
    assert.deepEqual(events, ['documents', 'commit'])
    assert.deepEqual(await Promise.all(reads), [{ is: 1 }])
  })

  test('onRefused() delivers only refused writes that another node added', async ([one, other]) => {
    const delivered = gather<[string, RefusedWrite]>(listener =>
      other.nodes.onRefused((...entry) => listener(entry)),
    )
    const refused = (datetime: number): RefusedWrite => ({ ...full, datetime })
    await other.refused.add(thing, refused(1))
    await one.refused.add(thing, refused(2))
    await one.refused.add(otherThing, refused(3))
    assert.deepEqual(await delivered.first(2), [
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

function documentsSeenBy({ nodes }: Store): Gathered<readonly string[] | undefined> {
  return gather(listener => nodes.onDocuments(listener))
}

/** Tests how a `shared` store determines which nodes are alive and which node leads a task. */
export function leading({ testStage, capabilities }: Suite): void {
  if (!capabilities.shared) return

  testStage('alive() has every open node, each with a name of its own', async stage => {
    const [one, other] = await twoNodes(stage)
    assert.notEqual(one.nodes.self, other.nodes.self)
    const both = new Set([one.nodes.self, other.nodes.self])
    assert.deepEqual(await one.nodes.alive(), both)
    assert.deepEqual(await other.nodes.alive(), both)
    await other.close()
    assert.deepEqual(await one.nodes.alive(), new Set([one.nodes.self]))
    const again = await stage.open()
    assert.equal(both.has(again.nodes.self), false)
  })

  testStage('lead() gives a task to one node at a time until that node gives up or closes', async stage => {
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

  testStage('append() with the lock of a task is refused once another node leads it', async stage => {
    const [one, other] = await twoNodes(stage)
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

const name = 'client/\u{1f600} a "b"\n'

/** Tests that locks can be taken over within one store and, if the store is `shared`, by another node. */
export function locks({ test: testOne, testStage, capabilities }: Suite): void {
  const settings = [{ where: '', open: oneStore }]
  if (capabilities.shared) settings.push({ where: ' by another node', open: twoNodes })
  for (const { where, open } of settings) {
    const test = testOfTwo(testStage, open)

    test(`append() with a lock that was taken over${where} keeps nothing`, async ([before, after]) => {
      const lost = await before.locks.take(name)
      await before.records.append(write([received(1)], { lock: lost }))
      const delivered = listen(before.records)
      const taking = after.locks.take(name)
      // Within one store, the test appends while the lock is being taken.
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
      assert.equal(delivered.length, 1)
      assert.equal(await before.documents.get('mark'), undefined)
      assert.equal(await before.records.state(thing, stateful), undefined)
      assert.equal(await before.records.answerOf(thing, 'a', Date.now()), undefined)
    })

    test(`put() with a lock that was taken over${where} changes nothing`, async ([before, after]) => {
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

    test(`removals with a lock that was taken over${where} remove nothing`, async ([before, after]) => {
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

    test(`release() ends a lock after earlier calls, before a take()${where}`, async ([before, after]) => {
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

    test(`take()${where} reports the lost lock, and earlier puts can be read`, async ([before, after]) => {
      const lost = gather<Lock>(listener => before.locks.onLost(listener))
      const first = await before.locks.take(name)
      const other = await before.locks.take('client/other')
      const putting = before.documents.put({ mark: { is: 1 } }, 'keep', first)
      if (before !== after) await putting
      await after.locks.take(name)
      assert.deepEqual(await after.documents.get('mark'), { is: 1 })
      const losses = (await lost.first(1)).map(({ name, owner }) => [name, owner])
      assert.deepEqual(losses, [[name, first.owner]])
      await putting
      await before.records.append(write([received(1)], { lock: other }))
    })

    test(`takeFrom()${where} takes a lock only if it is free or as expected`, async ([before, after]) => {
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

  testOne('append() with a lock that nobody has taken is refused', async store => {
    const lock = { name, owner: 'nobody' }
    await assert.rejects(store.records.append(write([received(1)], { lock })), LockLost)
    assert.deepEqual(await valuesOf(store.records), [])
  })

  testOne('take() of hundreds of names twice leaves each lock to its last taker', async store => {
    const names = count(300).map(number => `client/${number}`)
    const takes = await Promise.all([...names, ...names].map(each => store.locks.take(each)))
    const appends = takes.map(lock => store.records.append(write([received(lock.name)], { lock })))
    const results = await Promise.allSettled(appends)
    const statuses = results.map(({ status }) => status)
    const expected = takes.map((_, index) => (index < names.length ? 'rejected' : 'fulfilled'))
    assert.deepEqual(statuses, expected)
  })
}

type TwoStores = readonly [Store, Store]

function testOfTwo(testStage: Suite['testStage'], open: (stage: Stage) => Promise<TwoStores>) {
  return (name: string, body: (stores: TwoStores) => Promise<void>) =>
    testStage(name, async stage => await body(await open(stage)))
}

async function oneStore(stage: Stage): Promise<TwoStores> {
  const store = await stage.open()
  return [store, store]
}

async function twoNodes(stage: Stage): Promise<TwoStores> {
  return [await stage.open(), await stage.open()]
}
