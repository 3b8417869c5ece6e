import assert from 'node:assert/strict'
import type { WriteAnswer } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen, numbersOf } from './views.ts'
import { count, otherThing, received, thing, valuesOf, write } from './writes.ts'

const hour = 3_600_000
const day = 24 * 60 * 60 * 1_000
const answer: WriteAnswer = {
  rejected: [{ index: 1, field: 'key', reason: 'invalid_key', message: 'key must be …' }],
}

/** Contract §4, resend (c). */
export function writeIds({ test, capabilities }: Suite): void {
  test('append() gives a repeated write id the first answer, and has no effect', async stage => {
    const { records } = await stage.open()
    const told = listen(records)
    const first = await records.append(write([received('first')], { id: 'a', answer }))
    const repeat = await records.append(write([received('another body')], { id: 'a' }))
    assert.deepEqual(first.answer, answer)
    assert.deepEqual(repeat, { writeNumber: 0, answer })
    assert.deepEqual(await valuesOf(records), ['first'])
    assert.deepEqual(numbersOf(told), [first.writeNumber])
  })

  test('append() takes copies that are in flight together once', async stage => {
    const { records } = await stage.open()
    const copies = count(20).map(value => records.append(write([received(value)], { id: 'a', answer })))
    const receipts = await Promise.all(copies)
    assert.equal(receipts.filter(({ writeNumber }) => writeNumber > 0).length, 1)
    for (const receipt of receipts) assert.deepEqual(receipt.answer, answer)
    assert.deepEqual(await valuesOf(records), [0])
  })

  test('append() tells write ids apart to the letter, and those of each thing', async stage => {
    const { records } = await stage.open()
    const ids = ['a', 'A', 'a ', ' a', 'aa', 'a/b', 'a\\b', '"', '~'.repeat(64), '0', '00', '__proto__']
    for (const id of ids) {
      const { writeNumber } = await records.append(write([received(id)], { id }))
      assert.ok(writeNumber > 0, `${JSON.stringify(id)} was taken for another`)
    }
    const elsewhere = write([received('elsewhere')], { id: 'a', thingId: otherThing })
    assert.notEqual((await records.append(elsewhere)).writeNumber, 0)
    // A join of thing and id without a separator would take these two for one.
    await records.append(write([received(1)], { thingId: `${otherThing}x`, id: 'y' }))
    assert.notEqual(
      (await records.append(write([received(2)], { thingId: otherThing, id: 'xy' }))).writeNumber,
      0,
    )
    assert.deepEqual(await valuesOf(records), ids)
  })

  test('append() remembers the write id of a write that was not to be stored', async stage => {
    const { records } = await stage.open()
    await records.append(write([received(1)], { id: 'a', store: false, answer }))
    const repeat = await records.append(write([received(2)], { id: 'a' }))
    assert.deepEqual(repeat, { writeNumber: 0, answer })
    assert.equal(await records.read(thing, 'temperature', { order: 'asc', limit: 1 }), undefined)
  })

  test('append() remembers the last 1,000 write ids of a thing', async stage => {
    const { records } = await stage.open()
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

  test('answerOf() tells the answer of a write id for 24 hours of receipt time, and of no other id', async stage => {
    const { records } = await stage.open()
    await records.append(write([received(1)], { id: 'a', answer }))
    await records.append(write([received(1)], { id: 'b', answer, store: false }))
    assert.deepEqual(await records.answerOf(thing, 'a', Date.now()), answer)
    assert.deepEqual(await records.answerOf(thing, 'b', Date.now() + day - hour), answer)
    assert.equal(await records.answerOf(thing, 'a', Date.now() + day + hour), undefined)
    assert.equal(await records.answerOf(thing, 'c', Date.now()), undefined)
    assert.equal(await records.answerOf(otherThing, 'a', Date.now()), undefined)
  })

  test('answerOf() waits for a write in flight', async stage => {
    const { records } = await stage.open()
    const append = records.append(write([received(1)], { id: 'a', answer }))
    assert.deepEqual(await records.answerOf(thing, 'a', Date.now()), answer)
    await append
  })

  if (!capabilities.durable) return

  test('append() remembers write ids when the store is reopened', async stage => {
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
