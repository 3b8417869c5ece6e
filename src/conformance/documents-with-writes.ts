import assert from 'node:assert/strict'
import type { Waiting } from '../store/commit-ticket.ts'
import type { RefusedWrite } from '../store/contract.ts'
import type { Suite } from './stage.ts'
import { listen } from './views.ts'
import {
  appendTo,
  count,
  givenUp,
  measured,
  otherThing,
  readAll,
  readDuring,
  received,
  refusal,
  thing,
  valuesOf,
  waitedFor,
  write,
} from './writes.ts'

const rejected = { index: 0, field: 'key', reason: 'invalid_key', message: 'no' } as const

export function documentsWithWrites({ test, testStage, capabilities }: Suite): void {
  test('append() puts and removes its documents', async ({ records, documents }) => {
    await documents.put({ old: { is: 1 }, other: { is: 2 } }, 'keep')
    await records.append(write([received('a')], { documents: { old: null, never: null, new: { is: 3 } } }))
    await records.append(write([received('b')], { documents: {} }))
    assert.deepEqual(await valuesOf(records), ['a', 'b'])
    const all = await documents.list('', { limit: 10 })
    assert.deepEqual(all, [
      ['new', { is: 3 }],
      ['other', { is: 2 }],
    ])
  })

  test('append() puts the documents of a write that is not stored', async ({ records, documents }) => {
    const unstored = { store: false, documents: { a: { is: 1 } } }
    const { writeNumber } = await records.append(write([received('delivered')], unstored))
    assert.ok(writeNumber > 0)
    await records.append(
      write([received('delivered')], { store: false, id: 'a', documents: { b: { is: 2 } } }),
    )
    assert.deepEqual([await documents.get('a'), await documents.get('b')], [{ is: 1 }, { is: 2 }])
    assert.deepEqual(await readAll(records), [])
  })

  test('append() that repeats an id puts its documents and nothing else', async ({ records, documents }) => {
    await records.append(write([received('a')], { id: 'a', answer: { rejected: [rejected] } }))
    const delivered = listen(records)
    const repeat = write([received('b')], { id: 'a', documents: { mark: { is: 1 } } })
    assert.deepEqual(await records.append(repeat), { writeNumber: 0, answer: { rejected: [rejected] } })
    assert.deepEqual(await documents.get('mark'), { is: 1 })
    assert.deepEqual(await valuesOf(records), ['a'])
    assert.deepEqual(delivered, [])
  })

  test('append() of copies stores one write and the documents of each', async ({ records, documents }) => {
    const copies = count(20).map(copy =>
      records.append(
        write([received('a')], {
          id: 'a',
          answer: copy === 0 ? { rejected: [rejected] } : {},
          ...(copy % 2 === 1 ? { documents: { [`copy/${copy}`]: { copy }, last: { copy } } } : {}),
        }),
      ),
    )
    const receipts = await Promise.all(copies)
    assert.equal(receipts.filter(({ writeNumber }) => writeNumber > 0).length, 1)
    for (const { answer } of receipts) assert.deepEqual(answer, { rejected: [rejected] })
    assert.deepEqual(await records.answerOf(thing, 'a', Date.now()), { rejected: [rejected] })
    assert.equal((await documents.list('copy/', { limit: 100 })).length, 10)
    assert.deepEqual(await documents.get('last'), { copy: 19 })
    assert.deepEqual(await valuesOf(records), ['a'])
  })

  test('append() puts the documents of a write that stores no new record', async ({ records, documents }) => {
    await records.append(write([measured(1_000, 'a')]))
    await records.append(write([measured(1_000, 'a')], { documents: { mark: { is: 1 } } }))
    assert.deepEqual(await documents.get('mark'), { is: 1 })
    assert.deepEqual(await valuesOf(records), ['a'])
  })

  test('append(), put() and transact() put documents in call order', async ({ records, documents }) => {
    const seen = await Promise.all(
      count(30).map(async round => {
        const appending = records.append(write([received(round)], { documents: { mark: { round } } }))
        const putting = round % 3 === 0 ? documents.put({ mark: { round, put: true } }, 'keep') : undefined
        const reading = documents.transact(['mark'], ([mark]) => ({
          put: { mark: null },
          result: mark,
          purpose: 'keep',
        }))
        await Promise.all([appending, putting])
        return await reading
      }),
    )
    const expected = count(30).map(round => (round % 3 === 0 ? { round, put: true } : { round }))
    assert.deepEqual(seen, expected)
    assert.equal(await documents.get('mark'), undefined)
    await Promise.all([
      documents.put({ mark: { by: 'put' } }, 'keep'),
      records.append(write([received('last')], { documents: { mark: { by: 'append' } } })),
    ])
    assert.deepEqual(await documents.get('mark'), { by: 'append' })
  })

  test('append() shows documents and records at the same moment', async ({ records, documents }) => {
    const size = 100
    const appendAll = async () => {
      for (const round of count(30)) {
        const batch = count(size).map(place => measured(place, `${round} ${place}`))
        await records.append(write(batch, { documents: { mark: { writes: round + 1 } } }))
      }
    }
    const writesRead = async () => (await readAll(records)).length / size
    const writesMarked = async () => Number((await documents.get('mark'))?.writes ?? 0)
    await readDuring(appendAll(), async () => {
      const read = await writesRead()
      const marked = await writesMarked()
      assert.ok(marked >= read, `${read} writes were read, and then ${marked} in the document`)
      const readAfter = await writesRead()
      assert.ok(readAfter >= marked, `${marked} writes were in the document, and then ${readAfter} read`)
    })
    assert.deepEqual([await writesRead(), await writesMarked()], [30, 30])
  })

  testStage('append() of a driver drops the documents of a write whose ticket has expired', async stage => {
    const { records, documents } = await stage.openDriver()
    const append = (id: string, mark: string, waiting: Waiting) =>
      appendTo(records, write([received(id)], { id, documents: { mark: { is: mark } } }), waiting)
    const kept = append('a', 'kept', waitedFor())
    const repeat = append('a', 'repeat', givenUp)
    const dropped = append('b', 'dropped', givenUp)
    await assert.rejects(repeat, { reason: 'store_timeout' })
    await assert.rejects(dropped, { reason: 'store_timeout' })
    await kept
    assert.deepEqual(await documents.get('mark'), { is: 'kept' })
    const none = append('b', '0', givenUp)
    const [first, second] = [append('b', '1', waitedFor()), append('b', '2', waitedFor())]
    await assert.rejects(none, { reason: 'store_timeout' })
    assert.notEqual((await first).writeNumber, 0)
    assert.equal((await second).writeNumber, 0)
    assert.deepEqual(await documents.get('mark'), { is: '2' })
    assert.deepEqual(await valuesOf(records), ['a', 'b'])
  })

  if (!capabilities.durable) return

  testStage('append() keeps documents and records of a write together, or neither', async stage => {
    const before = await stage.open()
    const acknowledged: number[] = []
    const appends = count(200).map(async round => {
      const marks = { [`marks/${round}`]: { round } }
      const batch = [measured(round, round), measured(round, round, { key: 'other' })]
      await before.records.append(write(batch, { store: round % 4 !== 0, documents: marks }))
      acknowledged.push(round)
    })
    await Promise.allSettled([...appends, before.close()])
    const { records, documents } = await stage.open()
    const marked = (await documents.list('marks/', { limit: 1_000 })).map(([, { round }]) => Number(round))
    for (const round of acknowledged) assert.ok(marked.includes(round), `the mark of write ${round} is lost`)
    const expected = marked.filter(round => round % 4 !== 0).toSorted((a, b) => a - b)
    assert.deepEqual(await valuesOf(records), expected)
    assert.deepEqual(await valuesOf(records, { key: 'other' }), expected)
  })
}

export const full: RefusedWrite = {
  datetime: 7,
  door: 'mqtt',
  reason: 'invalid_key',
  message: 'values[0]: key must be …',
  errors: [{ index: 0, field: 'key', reason: 'invalid_key', message: 'key must be …' }],
  id: 'a',
  excerpt: '{"values":[{"key":"\u{1f600} \ufffd',
}

export function refusedWrites({ test, testStage, capabilities }: Suite): void {
  test('list() of refused writes gives them unchanged, the newest first', async ({ refused }) => {
    assert.deepEqual(await refused.list(thing, 100), [])
    for (const entry of [refusal(1), refusal(1), full]) await refused.add(thing, entry)
    assert.deepEqual(await refused.list(thing, 100), [full, refusal(1), refusal(1)])
    assert.deepEqual(await refused.list(thing, 1), [full])
    assert.deepEqual(await refused.list(otherThing, 100), [])
  })

  test('add() keeps the last 100 refused writes of each thing', async ({ refused }) => {
    await refused.add(otherThing, full)
    await Promise.all(count(350).map(datetime => refused.add(thing, refusal(datetime))))
    assert.deepEqual(await refused.list(thing, 1_000), count(350).slice(250).reverse().map(refusal))
    assert.deepEqual(await refused.list(thing, 2), [refusal(349), refusal(348)])
    assert.deepEqual(await refused.list(otherThing, 1_000), [full])
  })

  if (!capabilities.durable) return

  testStage('add() continues the list when the store is reopened', async stage => {
    const before = await stage.open()
    for (const datetime of count(99)) await before.refused.add(thing, refusal(datetime))
    const { refused } = await stage.reopen()
    await refused.add(thing, full)
    await refused.add(thing, refusal(100))
    const expected = [refusal(100), full, ...count(99).slice(1).reverse().map(refusal)]
    assert.deepEqual(await refused.list(thing, 1_000), expected)
  })
}
