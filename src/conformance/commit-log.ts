import assert from 'node:assert/strict'
import { maximumPageText } from '../core/ports.ts'
import type { Append, Commit } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen, numbersOf, plain, put, readWholeLog, state } from './views.ts'
import { count, key, measured, otherThing, readDuring, received, thing, write } from './writes.ts'

const all = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 1_000 } as const

export function commitLog({ test, testStage, capabilities }: Suite): void {
  test('readLog() gives commits as they were delivered', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    const geo = { lat: 41.4112345, long: -2.221234567890123 }
    const full = {
      ...measured(1_000, { b: '\ud800', a: [1.5] }, { geo }),
      datetimeText: '1970-01-01T00:00:01Z',
    }
    const written = { value: '[2.22,41.41]', geo }
    await records.append(write([full, received(1), { ...received(2, { key: '$geo' }), written }]))
    await records.append(write([received('quiet')], { broadcast: false, id: 'a', thingId: otherThing }))
    await records.append(put([state('s'), { key: '$settings', record: undefined }]))
    await records.append(write([received('both')], { states: [state('t', { geo })] }))
    await records.remove(thing, key, {})
    assert.equal(delivered.length, 5)
    assert.deepEqual((await records.readLog(all)).map(plain), delivered)
  })

  test('readLog() gives only commits that kept new content', async ({ records }) => {
    records.logWhen(() => true)
    await records.append(write([measured(1_000, 1)], { id: 'a' }))
    await records.append(write([measured(1_000, 1)]))
    await records.append(write([measured(2_000, 2)], { id: 'a' }))
    await records.append(write([received('passing')], { store: false, states: [state(1)] }))
    await records.append(write([measured(1_000, 1), measured(3_000, 3)]))
    const values = (await records.readLog(all)).map(commit => commit.records.map(({ value }) => value))
    assert.deepEqual(values, [['1'], ['3']])
  })

  test('logWhen() that turns true before snapshot() applies to all later appends', async ({ records }) => {
    const delivered = listen(records)
    let isWanted = false
    records.logWhen(() => isWanted)
    for (const round of count(20)) {
      isWanted = false
      const before = count(5).map(value => records.append(write([received(`${round} ${value} before`)])))
      // Waits longer in each round, so that in some rounds the answer to logWhen() changes during a commit.
      for (let turns = 0; turns < round; turns++) await Promise.resolve()
      isWanted = true
      const taking = records.snapshot()
      const after = count(5).map(value => records.append(write([received(`${round} ${value} after`)])))
      const { writeNumber, close } = await taking
      await Promise.all([...before, ...after, close()])
      const log = await records.readLog({ ...all, after: writeNumber })
      const expected = delivered.filter(commit => commit.writeNumber > writeNumber)
      assert.deepEqual(log.map(plain), expected)
      assert.equal(log.length, 5)
    }
  })

  test('readLog() reads between two write numbers, both exclusive, in both orders', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    for (const value of count(20)) await records.append(write([received(value)]))
    const numbers = numbersOf(delivered)
    const [fourth = 0, fifth = 0, ninth = 0] = [numbers[3], numbers[4], numbers[8]]
    const read = async (query: Partial<typeof all> | object) =>
      numbersOf(await records.readLog({ ...all, ...query }))
    assert.deepEqual(await read({ after: fourth, before: ninth }), numbers.slice(4, 8))
    const backward = { order: 'desc', before: ninth }
    assert.deepEqual(await read({ ...backward, limit: 3 }), numbers.slice(5, 8).reverse())
    assert.deepEqual(await read({ ...backward, after: fifth }), numbers.slice(5, 8).reverse())
    assert.deepEqual(await read({ after: fourth, before: fifth }), [])
    assert.deepEqual(await read({ after: ninth, before: fourth }), [])
    assert.deepEqual(await read({ after: numbers.at(-1) }), [])
    assert.deepEqual(await read({ order: 'desc', before: numbers[0] }), [])
    assert.deepEqual(await read({ limit: 1 }), numbers.slice(0, 1))
    assert.deepEqual(await readWholeLog(records), delivered)
    assert.deepEqual(await readWholeLog(records, { order: 'desc' }), delivered.toReversed())
  })

  test('readLog() gives the commits of wanted things, in both orders and in pages', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    const things = count(5).map(place => `${place}`.repeat(16))
    // Nothing is written to the last thing.
    for (const value of count(60)) {
      const thingId = things[(value % 7) % 4] ?? ''
      await records.append(write([received(value)], { thingId }))
    }
    for (const wanted of [[0], [1, 3], [2, 4], [4], [], [0, 1, 2, 3, 4]]) {
      const isOf = (thingId: string) => wanted.includes(things.indexOf(thingId))
      const expected = delivered.filter(({ thingId }) => isOf(thingId))
      for (const limit of [1, 7, 100]) {
        assert.deepEqual(await readWholeLog(records, { limit, isOf }), expected)
        assert.deepEqual(await readWholeLog(records, { order: 'desc', limit, isOf }), expected.toReversed())
      }
      const [after = 0, before = 0] = [delivered[19]?.writeNumber, delivered[40]?.writeNumber]
      const between = await records.readLog({ ...all, after, before, isOf })
      const inRange = expected.filter(({ writeNumber }) => writeNumber > after && writeNumber < before)
      assert.deepEqual(between.map(plain), inRange)
    }
    await records.removeThing(things[1] ?? '')
    const isOf = (thingId: string) => thingId === things[1] || thingId === things[3]
    const left = delivered.filter(({ thingId }) => thingId === things[3])
    assert.deepEqual(await readWholeLog(records, { isOf }), left)
  })

  test('readLog() bounds the text of a page, and gives no empty page before the end', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    const large = 'x'.repeat(60 * 1024)
    for (const value of count(30))
      await records.append(write([received(`${value} ${large}`), received(large)]))
    await records.append(write(count(30).map(() => received(large))))
    const lengthOf = (commits: readonly Commit[]) =>
      commits.flatMap(commit => commit.records).reduce((sum, { value }) => sum + value.length, 0)
    for (const part of [{}, { isOf: (thingId: string) => thingId === thing }]) {
      for (const order of ['asc', 'desc'] as const) {
        const page = await records.readLog({ ...all, ...part, order })
        const text = lengthOf(page.slice(0, -1))
        assert.ok(text < maximumPageText, `a page of ${text} characters and one commit more`)
      }
      assert.deepEqual(
        numbersOf(await readWholeLog(records, { limit: 1_000, ...part })),
        numbersOf(delivered),
      )
      assert.deepEqual(
        numbersOf(await readWholeLog(records, { order: 'desc', limit: 1_000, ...part })),
        numbersOf(delivered.toReversed()),
      )
    }
  })

  test('readLog() never gets a new commit before one that was read', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    const followed: Commit[] = []
    const readOn = async () => {
      const after = followed.at(-1)?.writeNumber ?? 0
      const page = await records.readLog({ ...all, after, limit: 9 })
      assert.ok((page[0]?.writeNumber ?? Number.POSITIVE_INFINITY) > after, `a page after ${after}`)
      followed.push(...page.map(plain))
      return page.length
    }
    const appending = count(300).map(async value => {
      for (let turns = 0; turns < value % 17; turns++) await Promise.resolve()
      await records.append(write([received(value)]))
    })
    await readDuring(Promise.all(appending), readOn)
    while ((await readOn()) > 0) {}
    assert.deepEqual(followed, delivered)
  })

  test('removeThing() removes the commits of that thing alone from the log', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    const things = [thing, `${thing}a`, otherThing, thing.slice(1)]
    for (const value of count(40)) {
      const thingId = things[value % 4] ?? ''
      await records.append(write([received(value)], { thingId, states: [state(value)] }))
    }
    await records.removeThing(thing)
    const others = delivered.filter(({ thingId }) => thingId !== thing)
    assert.equal(others.length, 30)
    assert.deepEqual((await records.readLog(all)).map(plain), others)
  })

  if (capabilities.shared) keepsForOthers({ test })
  else decidesAlone({ test })

  if (!capabilities.durable) return

  testStage('open() finds the log unchanged', async stage => {
    const before = await stage.open()
    const delivered = listen(before.records)
    before.records.logWhen(() => true)
    for (const value of count(10))
      await before.records.append(write([received(value)], { states: [state(value)] }))
    const kept = delivered.toSpliced(3, capabilities.shared ? 0 : 1)
    await before.records.trimLog([delivered[3]?.writeNumber ?? 0])
    const { records } = await stage.reopen()
    const isOf = (thingId: string) => thingId === thing
    assert.deepEqual((await records.readLog(all)).map(plain), kept)
    if (!capabilities.shared) await records.append(write([received('not logged')]))
    records.logWhen(() => true)
    const deliveredLater = listen(records)
    await records.append(write([received('logged')]))
    assert.deepEqual(await readWholeLog(records, { isOf }), [...kept, ...deliveredLater])
    await records.append(write([received('logged too')]))
    assert.deepEqual(await readWholeLog(records, { isOf }), [...kept, ...deliveredLater])
    assert.deepEqual(await readWholeLog(records), [...kept, ...deliveredLater])
  })
}

function keepsForOthers({ test }: Pick<Suite, 'test'>): void {
  test('trimLog() keeps new commits, since another node may need them', async ({ records, nodes }) => {
    const delivered = listen(records)
    for (const value of count(10)) await records.append(write([received(value)]))
    await records.trimLog(numbersOf(delivered))
    assert.deepEqual((await records.readLog(all)).map(plain), delivered)
    const { completeAfter, trimmableTo } = await nodes.logBounds()
    assert.ok(completeAfter < (delivered[0]?.writeNumber ?? 0))
    assert.ok(trimmableTo < (delivered[0]?.writeNumber ?? 0))
  })
}

/** Tests for stores that are not shared. A shared store logs every commit, because another process may need it. */
function decidesAlone({ test }: Pick<Suite, 'test'>): void {
  test('trimLog() removes the given commits from the log, and nothing else', async ({ records }) => {
    const delivered = listen(records)
    records.logWhen(() => true)
    for (const value of count(10)) await records.append(write([received(value)]))
    const numbers = numbersOf(delivered)
    await records.trimLog([])
    await records.trimLog([numbers[7] ?? 0, numbers[2] ?? 0, 1_000_000, numbers[2] ?? 0])
    const kept = delivered.filter((_, index) => index !== 7 && index !== 2)
    assert.deepEqual((await records.readLog(all)).map(plain), kept)
    await records.trimLog([numbers[7] ?? 0])
    await records.append(write([received(10)]))
    assert.deepEqual((await records.readLog(all)).map(plain), [...kept, delivered[10]])
    await records.trimLog(numbersOf(delivered))
    assert.deepEqual((await records.readLog(all)).map(plain), [])
    assert.equal((await records.read(thing, key, { order: 'asc', limit: 100 }))?.records.length, 11)
  })

  test('readLog() gives nothing unless logWhen() wanted it', async ({ records }) => {
    await records.append(write([received(1)], { states: [state(1)] }))
    assert.deepEqual((await records.readLog(all)).map(plain), [])
    records.logWhen(() => false)
    await records.append(write([received(2)]))
    assert.deepEqual((await records.readLog(all)).map(plain), [])
  })

  test('logWhen() is called for each write, and its answer alone decides', async ({ records }) => {
    const asked: Pick<Append, 'thingId' | 'records' | 'broadcast'>[] = []
    const delivered = listen(records)
    records.logWhen(about => {
      asked.push(about)
      return about.thingId === thing && about.broadcast && about.records.some(record => record.key === key)
    })
    const first = write([received(1), received(2, { key: 'other' })])
    await records.append(first)
    await records.append(write([received(3)], { thingId: otherThing }))
    await records.append(write([received(4)], { broadcast: false }))
    await records.append(write([received(5, { key: 'other' })]))
    await records.append(write([received(6)]))
    const kept = (await records.readLog(all)).map(plain)
    assert.deepEqual(kept, [delivered[0], delivered[4]])
    const [{ thingId, records: ofFirst, broadcast } = assert.fail()] = asked
    assert.deepEqual(
      { thingId, records: ofFirst, broadcast },
      { thingId: thing, records: delivered[0]?.records, broadcast: true },
    )
    assert.equal(asked.length, 5)
    records.logWhen(() => false)
    await records.append(write([received(7)]))
    assert.deepEqual((await records.readLog(all)).map(plain), kept)
  })
}
