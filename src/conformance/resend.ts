import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Commit, DriverRecords, Receipt, WriteAnswer } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen, numbersOf, plain, readWholeLog, state, stateful } from './views.ts'
import {
  appendTo,
  count,
  givenUp,
  key,
  measured,
  otherThing,
  readAll,
  received,
  thing,
  valuesOf,
  waitedFor,
  write,
} from './writes.ts'

/** Tests contract §4.4 (a) and (b). */
export function resend({ test, testStage, capabilities }: Suite): void {
  test('append() stores a record with a datetime once, however often it is sent', async ({ records }) => {
    const batch = write([measured(2_000, 'b'), measured(1_000, 'a'), measured(3_000, 'c')])
    await records.append(batch)
    await records.append(batch)
    await Promise.all([records.append(batch), records.append(batch)])
    assert.deepEqual(await valuesOf(records), ['a', 'b', 'c'])
  })

  test('append() stores a record once if a write has it twice', async ({ records }) => {
    await records.append(write([measured(1_000, 'a'), measured(1_000, 'b'), measured(1_000, 'a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'b'])
  })

  test('append() leaves a resent record in its first place', async ({ records }) => {
    await records.append(write([measured(1_000, 'first')]))
    await records.append(write([measured(1_000, 'second')]))
    await records.append(write([measured(1_000, 'first')]))
    assert.deepEqual(await valuesOf(records), ['first', 'second'])
    assert.deepEqual(await valuesOf(records, { order: 'desc', limit: 1 }), ['second'])
  })

  test('append() delivers a write without its resends', async ({ records }) => {
    const delivered: unknown[] = []
    records.onCommit((commit: Commit) =>
      delivered.push(...commit.records.map(({ value }) => JSON.parse(value))),
    )
    await records.append(write([measured(1_000, 'a')]))
    await records.append(write([measured(1_000, 'a'), measured(1_000, 'b'), measured(1_000, 'b')]))
    await records.append(write([measured(1_000, 'b')]))
    assert.deepEqual(delivered, ['a', 'b'])
  })

  test('append() keeps records of one datetime that differ in value', async ({ records }) => {
    const values = [
      1,
      '1',
      true,
      'true',
      [1],
      ['1'],
      { a: 1 },
      { a: '1' },
      { a: 1, b: null },
      [],
      {},
      '',
      [[]],
      1.5,
    ]
    for (const value of values) await records.append(write([measured(1_000, value)]))
    await records.append(write(values.map(value => measured(1_000, value))))
    assert.deepEqual(await valuesOf(records), values)
  })

  test('append() compares objects whatever the order of their members, at any depth', async ({ records }) => {
    await records.append(write([measured(1_000, { a: 1, b: { c: [{ d: 2, e: 3 }], f: 4 } })]))
    await records.append(write([measured(1_000, { b: { f: 4, c: [{ e: 3, d: 2 }] }, a: 1 })]))
    await records.append(write([measured(1_000, [1, 2])]))
    await records.append(write([measured(1_000, [2, 1])]))
    const stored = (await readAll(records)).map(({ value }) => value)
    assert.deepEqual(stored, ['{"a":1,"b":{"c":[{"d":2,"e":3}],"f":4}}', '[1,2]', '[2,1]'])
  })

  test('append() keeps records of one datetime that differ in geo', async ({ records }) => {
    const positions = [
      { lat: 1, long: 2 },
      { lat: 2, long: 1 },
      { lat: 1, long: 2.000001 },
    ].map(geo => ({ geo }))
    const batch = [{}, ...positions].map(geo => measured(1_000, 'a', geo))
    await records.append(write(batch))
    await records.append(write(batch.toReversed()))
    assert.deepEqual(
      (await readAll(records)).map(({ geo }) => geo),
      [undefined, ...positions.map(({ geo }) => geo)],
    )
  })

  test('append() recognises a resend only in its own resource and at its datetime', async ({ records }) => {
    const elsewhere = [measured(1_000, 'a', { key: 'other' }), measured(1_001, 'a'), measured(999, 'a')]
    await records.append(write([measured(1_000, 'a'), ...elsewhere]))
    await records.append(write([measured(1_000, 'a')], { thingId: 'other' }))
    assert.equal((await readAll(records)).length, 3)
    assert.equal((await readAll(records, { key: 'other' })).length, 1)
    assert.equal((await readAll(records, { thingId: 'other' })).length, 1)
  })

  test('append() stores a record without a datetime each time it is sent', async ({ records }) => {
    await records.append(write([received('a'), received('a')]))
    await records.append(write([received('a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'a', 'a'])
  })

  test('append() takes a record dated at a receipt time as a resend of that record', async ({ records }) => {
    await records.append(write([received('a')]))
    const [first] = await readAll(records)
    await records.append(write([measured(first?.datetime ?? 0, 'a')]))
    assert.deepEqual(await valuesOf(records), ['a'])
    await records.append(write([received('a')]))
    assert.deepEqual(await valuesOf(records), ['a', 'a'])
  })

  test('append() recognises resends of 600 different records of one datetime', async ({ records }) => {
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write([measured(2_000, 'newer')]))
    await records.append(write(crowd.slice(0, 400)))
    await records.append(write(crowd))
    await records.append(write(crowd.toReversed()))
    await Promise.all(crowd.slice(200).map(record => records.append(write([record]))))
    assert.deepEqual(await valuesOf(records), [...count(600), 'newer'])
  })

  test('append() stores only the new ones of thousands of records, in call order', async ({ records }) => {
    const delivered: number[] = []
    records.onCommit(commit => delivered.push(commit.records.length))
    const all = count(6_000).map(place => measured(1_000 + place, place))
    const half = all.filter((_, place) => place % 2 === 0)
    const behind = measured(1_001, 'behind')
    await Promise.all([half, all, [behind]].map(each => records.append(write(each))))
    assert.deepEqual(delivered, [3_000, 3_000, 1])
    const [first, second, ...others] = count(6_000)
    assert.deepEqual(await valuesOf(records), [first, second, 'behind', ...others])
  })

  test('append() stores each of 600 tied records again after remove()', async ({ records }) => {
    const crowd = count(600).map(value => measured(1_000, value))
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.equal(await records.remove(thing, key, { to: 2_000 }), 600)
    await records.append(write([...crowd, measured(2_000, 'newer')]))
    assert.deepEqual(await valuesOf(records), [...count(600), 'newer'])
    assert.equal(await records.remove(thing, key, {}), 601)
    await records.append(write([measured(2_000, 'newer')]))
    assert.deepEqual(await valuesOf(records), ['newer'])
  })

  test('append() delivers a record again that was delivered before but not stored', async ({ records }) => {
    await records.append(write([measured(1_000, 'a')], { store: false }))
    const delivered: unknown[] = []
    records.onCommit(commit => delivered.push(...commit.records.map(({ value }) => value)))
    await records.append(write([measured(1_000, 'a')]))
    assert.deepEqual(delivered, ['"a"'])
    assert.deepEqual(await valuesOf(records), ['a'])
  })

  if (!capabilities.durable) return

  testStage('append() recognises resends from before the store was reopened', async stage => {
    const batch = [measured(1_000, 'a'), measured(1_000, 'b'), measured(5_000, 'c'), received('d')]
    const crowd = count(600).map(value => measured(3_000, value))
    const before = await stage.open()
    await before.records.append(write([...batch, ...crowd]))
    const last = (await readAll(before.records)).at(-1)
    const { records } = await stage.reopen()
    await records.append(
      write([...crowd.toReversed(), ...batch.slice(0, 3), measured(last?.datetime ?? 0, 'd')]),
    )
    assert.deepEqual(await valuesOf(records), ['a', 'b', ...count(600), 'c', 'd'])
  })
}

const hour = 3_600_000
const day = 24 * 60 * 60 * 1_000
const answer: WriteAnswer = {
  rejected: [{ index: 1, field: 'key', reason: 'invalid_key', message: 'key must be …' }],
}

/** Tests contract §4.4 (c). */
export function writeIds({ test, testStage, capabilities }: Suite): void {
  test('append() of a repeated write id gives the first answer, and has no effect', async ({ records }) => {
    const delivered = listen(records)
    const first = await records.append(write([received('first')], { id: 'a', answer }))
    const repeat = await records.append(write([received('another body')], { id: 'a' }))
    assert.deepEqual(first.answer, answer)
    assert.deepEqual(repeat, { writeNumber: 0, answer })
    assert.deepEqual(await valuesOf(records), ['first'])
    assert.deepEqual(numbersOf(delivered), [first.writeNumber])
  })

  test('append() stores copies that are in flight together once', async ({ records }) => {
    const copies = count(20).map(value => records.append(write([received(value)], { id: 'a', answer })))
    const receipts = await Promise.all(copies)
    assert.equal(receipts.filter(({ writeNumber }) => writeNumber > 0).length, 1)
    for (const receipt of receipts) assert.deepEqual(receipt.answer, answer)
    assert.deepEqual(await valuesOf(records), [0])
  })

  test('append() distinguishes similar write ids, and those of different things', async ({ records }) => {
    const ids = ['a', 'A', 'a ', ' a', 'aa', 'a/b', 'a\\b', '"', '~'.repeat(64), '0', '00', '__proto__']
    for (const id of ids) {
      const { writeNumber } = await records.append(write([received(id)], { id }))
      assert.ok(writeNumber > 0, `${JSON.stringify(id)} was taken for another`)
    }
    const elsewhere = write([received('elsewhere')], { id: 'a', thingId: otherThing })
    assert.notEqual((await records.append(elsewhere)).writeNumber, 0)
    // A store that joins thing and id without a separator would confuse these two writes.
    await records.append(write([received(1)], { thingId: `${otherThing}x`, id: 'y' }))
    assert.notEqual(
      (await records.append(write([received(2)], { thingId: otherThing, id: 'xy' }))).writeNumber,
      0,
    )
    assert.deepEqual(await valuesOf(records), ids)
  })

  test('append() remembers the write id of a write with store false', async ({ records }) => {
    await records.append(write([received(1)], { id: 'a', store: false, answer }))
    const repeat = await records.append(write([received(2)], { id: 'a' }))
    assert.deepEqual(repeat, { writeNumber: 0, answer })
    assert.equal(await records.read(thing, 'temperature', { order: 'asc', limit: 1 }), undefined)
  })

  test('append() remembers the last 1,000 write ids of a thing', async ({ records }) => {
    const take = (id: number) => records.append(write([received(id)], { id: `id ${id}` }))
    await records.append(write([received(0)], { id: 'id 0', thingId: otherThing }))
    await Promise.all(count(1_000).map(take))
    assert.equal((await take(0)).writeNumber, 0)
    assert.equal((await take(999)).writeNumber, 0)
    assert.notEqual((await take(1_000)).writeNumber, 0)
    assert.equal((await take(1)).writeNumber, 0)
    assert.notEqual((await take(0)).writeNumber, 0, 'the 1,001st id should make the first forgotten')
    const { answer: inOther } = await records.append(
      write([received(1)], { id: 'id 0', thingId: otherThing }),
    )
    assert.deepEqual(inOther, {})
    assert.equal((await valuesOf(records, { thingId: otherThing })).length, 1)
    assert.equal((await valuesOf(records)).length, 1_002)
  })

  test('answerOf() gives the answer of a known write id for 24 hours', async ({ records }) => {
    await records.append(write([received(1)], { id: 'a', answer }))
    await records.append(write([received(1)], { id: 'b', answer, store: false }))
    assert.deepEqual(await records.answerOf(thing, 'a', Date.now()), answer)
    assert.deepEqual(await records.answerOf(thing, 'b', Date.now() + day - hour), answer)
    assert.equal(await records.answerOf(thing, 'a', Date.now() + day + hour), undefined)
    assert.equal(await records.answerOf(thing, 'c', Date.now()), undefined)
    assert.equal(await records.answerOf(otherThing, 'a', Date.now()), undefined)
  })

  test('answerOf() waits for a write in flight', async ({ records }) => {
    const append = records.append(write([received(1)], { id: 'a', answer }))
    assert.deepEqual(await records.answerOf(thing, 'a', Date.now()), answer)
    await append
  })

  if (!capabilities.durable) return

  testStage('append() remembers write ids when the store is reopened', async stage => {
    const before = await stage.open()
    await before.records.append(write([received(1)], { id: 'a', answer }))
    await before.records.append(write([received(1)], { id: 'b', answer, store: false }))
    await Promise.all(count(999).map(id => before.records.append(write([received(id)], { id: `id ${id}` }))))
    const { records } = await stage.reopen()
    assert.equal(await records.answerOf(thing, 'a', Date.now()), undefined)
    assert.deepEqual(await records.answerOf(thing, 'b', Date.now()), answer)
    assert.deepEqual(await records.append(write([received(2)], { id: 'b' })), { writeNumber: 0, answer })
    await records.append(write([received(2)], { id: 'one more' }))
    assert.equal(await records.answerOf(thing, 'b', Date.now()), undefined)
  })
}

/** Tests writes with expired tickets. Uses the driver directly, because `openStore` would hide the driver's behaviour. */
export function tickets({ testStage }: Suite): void {
  testStage('append() of a driver drops a write whose ticket has expired', async stage => {
    const { records } = await stage.openDriver()
    const delivered = listen(records)
    const before = appendTo(records, write([received('before')]), waitedFor())
    const dropped = appendTo(
      records,
      write([received('dropped')], { id: 'a', states: [state('dropped')] }),
      givenUp,
    )
    const after = appendTo(records, write([received('after')]), waitedFor())
    await assert.rejects(dropped, { reason: 'store_timeout' })
    await Promise.all([before, after])
    assert.deepEqual(await valuesOf(records), ['before', 'after'])
    assert.equal(await records.answerOf(thing, 'a', Date.now()), undefined)
    assert.equal(await records.state(thing, stateful), undefined)
    assert.equal(delivered.length, 2)
    const again = await appendTo(records, write([received('again')], { id: 'a' }), waitedFor())
    assert.notEqual(again.writeNumber, 0)
  })

  testStage('append() of a driver delivers and logs a commit whose ticket expires meanwhile', async stage => {
    const { records } = await stage.openDriver()
    const delivered = listen(records)
    const tried = await expireMeanwhile(records)
    const kept = tried.filter(({ receipt }) => receipt !== undefined)
    const isAnyLate = kept.some(({ isLate }) => isLate)
    assert.ok(isAnyLate, 'no ticket expired before its write was committed')
    // After catchUp(), every write that the store has begun is delivered.
    await records.catchUp()
    const deliveries = delivered.map(({ records, broadcast }) => [records[0]?.value, broadcast])
    const expected = kept.map(({ value, broadcast }) => [JSON.stringify(value), broadcast])
    assert.deepEqual(deliveries, expected)
    assert.deepEqual((await readWholeLog(records)).map(plain), delivered)
    const stored = (await readAll(records)).map(({ value }) => value)
    const values = deliveries.map(([value]) => value)
    assert.deepEqual(stored, values)
  })
}

interface Tried {
  readonly value: number
  readonly broadcast: boolean
  /** Whether the ticket had expired when the write settled. */
  readonly isLate: boolean
  /** Undefined if the write was dropped. */
  readonly receipt: Receipt | undefined
}

/** Appends 40 writes. Each ticket expires at a different moment: between the call and the commit, or later. */
async function expireMeanwhile(records: DriverRecords): Promise<Tried[]> {
  const tried: Tried[] = []
  for (const value of count(40)) {
    const ticket = { ...waitedFor(), expired: false }
    const expire = () => {
      ticket.expired = true
    }
    // The store calls this function after it has begun to commit the write.
    records.logWhen(() => {
      if (value % 2 === 0) expire()
      return true
    })
    const broadcast = value % 4 < 2
    const append = appendTo(records, write([received(value)], { broadcast }), ticket)
    if (value % 2 === 1) {
      for (let turns = value % 3; turns > 0; turns--) await nextTurn()
      expire()
    }
    const receipt = await append.catch((error: { reason?: string }) => {
      assert.equal(error.reason, 'store_timeout')
      return undefined
    })
    tried.push({ value, broadcast, isLate: ticket.expired, receipt })
  }
  return tried
}
