import assert from 'node:assert/strict'
import type { Append, Store } from '../store/contract.ts'
import type { Stage, Suite } from './stage.ts'
import { listen, readWholeLog, state } from './views.ts'
import {
  appendEach,
  ascending,
  count,
  key,
  measured,
  measuredAt,
  readAll,
  received,
  thing,
  valuesOf,
  write,
} from './writes.ts'

/** Datetimes around powers of 10 and 2, where numbers get longer as text or as bytes, so that a wrong order would show. */
const datetimes = [
  ...[0, 1, 2, 12].flatMap(exponent => [10 ** exponent - 1, 10 ** exponent]),
  ...[8, 16, 31, 32, 40].flatMap(exponent => [2 ** exponent - 1, 2 ** exponent]),
  measuredAt,
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
].sort((a, b) => a - b)

export function order({ test }: Suite): void {
  test('append() orders records by datetime, whatever the order of their writes', async ({ records }) => {
    for (const value of [5, 1, 9, 3, 7, 0, 8, 2, 6, 4])
      await records.append(write([measured(value * 1_000, value)]))
    assert.deepEqual(await valuesOf(records), count(10))
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), count(10).reverse())
  })

  test('append() orders the records of one write by datetime, whatever their places', async ({ records }) => {
    await records.append(write([5, 1, 9, 3].map(value => measured(value * 1_000, value))))
    await records.append(write([8, 2, 6, 4, 7].map(value => measured(value * 1_000, value))))
    assert.deepEqual(await valuesOf(records), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), [9, 8, 7, 6, 5, 4, 3, 2, 1])
  })

  test('append() orders datetimes as numbers, from 1970 to 9999', async ({ records }) => {
    const shuffled = datetimes.map((_, index) => datetimes[(index * 7) % datetimes.length] ?? 0)
    const newRecords = shuffled.map(datetime => measured(datetime, datetime))
    await appendEach(records, newRecords)
    assert.deepEqual(await valuesOf(records), datetimes)
  })

  test('append() orders records of one datetime by write number, then by place', async ({ records }) => {
    await records.append(write([measured(1_000, 'first, 0'), measured(1_000, 'first, 1')]))
    await records.append(write([measured(1_000, 'second, 0')]))
    await records.append(
      write([measured(1_000, 'another key', { key: 'other' }), measured(1_000, 'third, 1')]),
    )
    const expected = ['first, 0', 'first, 1', 'second, 0', 'third, 1']
    assert.deepEqual(await valuesOf(records), expected)
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), expected.toReversed())
  })

  test('append() orders the places of a write as numbers, from 0 to 9,999', async ({ records }) => {
    await records.append(write(count(10_000).map(value => received(value))))
    assert.deepEqual(await valuesOf(records), count(10_000))
  })

  test('append() orders write numbers as numbers, in 600 writes of one datetime', async ({ records }) => {
    const newRecords = count(600).map(value => received(value))
    await appendEach(records, newRecords)
    assert.deepEqual(await valuesOf(records), count(600))
    assert.deepEqual(await valuesOf(records, { order: 'desc' }), count(600).reverse())
  })

  test('append() commits the writes of one caller in the order of the calls', async ({ records }) => {
    const receipts = await Promise.all(count(100).map(value => records.append(write([received(value)]))))
    const numbers = receipts.map(({ writeNumber }) => writeNumber)
    assert.deepEqual(numbers, ascending(new Set(numbers)))
    assert.ok(numbers.every(number => Number.isInteger(number) && number > 0))
  })

  test('append() orders records with and without a datetime in one time line', async ({ records }) => {
    const delivered = listen(records)
    await records.append(write([received('b')]))
    const receivedAt = delivered[0]?.receivedAt ?? 0
    await records.append(write([measured(receivedAt - 1, 'a'), measured(receivedAt + 1, 'd')]))
    await records.append(write([measured(receivedAt, 'c')]))
    assert.deepEqual(await valuesOf(records, { key }), ['a', 'b', 'c', 'd'])
  })
}

/** Milliseconds. */
const tenSeconds = 10_000
const tenYears = 10 * 365.25 * 86_400_000

export function receiptTimes({ test, testStage, capabilities }: Suite): void {
  test('append() gives listeners, reads and the log the same receipt time', async ({ records }) => {
    records.logWhen(() => true)
    const delivered = listen(records)
    const begin = Date.now()
    await records.append(write([received(1), received(2)]))
    const receivedAt = delivered[0]?.receivedAt ?? 0
    assert.ok(receivedAt >= begin - tenSeconds && receivedAt <= Date.now() + tenSeconds, `at ${receivedAt}`)
    const times = delivered[0]?.records.map(({ datetime, explicit }) => ({ datetime, explicit }))
    assert.deepEqual(times, [
      { datetime: receivedAt, explicit: false },
      { datetime: receivedAt, explicit: false },
    ])
    const read = (await readAll(records)).map(({ datetime }) => datetime)
    assert.deepEqual(read, [receivedAt, receivedAt])
    assert.deepEqual(await readWholeLog(records), delivered)
  })

  test('append() and the clock never give an earlier time than before', async ({ records, clock }) => {
    const delivered = listen(records)
    const before = clock.now()
    for (const value of count(20)) {
      await records.append(write([received(value)], value % 3 === 0 ? { store: false } : {}))
    }
    const times = delivered.map(({ receivedAt }) => receivedAt)
    assert.deepEqual(times, ascending(times))
    assert.ok(clock.now() >= (times.at(-1) ?? 0) && clock.now() >= before)
  })

  if (capabilities.durable) {
    testStage('open() continues from the newest receipt time', async stage => {
      const before = await stage.open()
      const delivered = listen(before.records)
      await before.records.append(write([received(1)]))
      const { records, clock } = await stage.reopen()
      const deliveredAfter = listen(records)
      assert.ok(clock.now() >= (delivered[0]?.receivedAt ?? 0))
      await records.append(write([received(2)]))
      assert.ok((deliveredAfter[0]?.receivedAt ?? 0) >= (delivered[0]?.receivedAt ?? 0))
    })
  }

  if (!capabilities.shared) return

  for (const [text, apart] of [
    ['10 s', tenSeconds],
    ['10 years', tenYears],
  ] as const) {
    testStage(`append() uses one clock for receipt times if two nodes are ${text} apart`, async stage => {
      const [one, other] = [await stage.open(), await stage.open()]
      const delivered = listen(one.records)
      const began = Date.now()
      for (const value of count(10)) {
        await withClock(apart, () => one.records.append(write([received(2 * value)])))
        await withClock(-apart, () => other.records.append(write([received(2 * value + 1)])))
      }
      assert.deepEqual(await valuesOf(one.records), count(20))
      const times = (await readWholeLog(one.records)).map(({ receivedAt }) => receivedAt)
      assert.deepEqual(times, ascending(times))
      const areNear = times.every(time => Math.abs(time - began) < 9_000)
      assert.ok(areNear, `received at ${times}, begun at ${began}`)
      assert.ok(delivered.length > 0)
      const now = await withClock(apart, async () => one.clock.now())
      assert.ok(Math.abs(now - Date.now()) < 9_000, `${one.clock.now()}`)
    })
  }
}

/** Runs a task while `Date.now` of this process is ahead. @param ahead how far, milliseconds */
async function withClock<T>(ahead: number, task: () => Promise<T>): Promise<T> {
  const { now } = Date
  Date.now = () => now() + ahead
  try {
    return await task()
  } finally {
    Date.now = now
  }
}

export function inOrder({ test, testStage, capabilities }: Suite): void {
  test('catchUp() resolves when listeners have all commits from before the call', async ({ records }) => {
    assert.equal(await records.catchUp(), 0)
    const delivered = listen(records)
    for (const round of count(20)) {
      const before = count(5).map(() => records.append(write([received(round)], { store: round % 3 > 0 })))
      const catchingUp = records.catchUp().then(newest => ({ newest, deliveredThen: delivered.length }))
      const after = records.append(write([received('after')]))
      const { newest, deliveredThen } = await catchingUp
      assert.ok(deliveredThen >= round * 6 + 5, `${deliveredThen} of ${round * 6 + 5} were delivered`)
      assert.equal(newest, (await Promise.all(before)).at(-1)?.writeNumber)
      await after
    }
  })

  test('getInOrder() reads documents between earlier and later calls', async ({ records, documents }) => {
    const seen = count(30).map(round => {
      const calls = [
        () => records.append(write([received(round)], { documents: { mark: { round } } })),
        () => documents.put({ mark: { round } }, 'keep'),
        () =>
          documents.transact(['mark'], () => ({
            put: { mark: { round } },
            result: undefined,
            purpose: 'keep',
          })),
      ]
      void calls[round % 3]?.()
      return documents.getInOrder('mark')
    })
    const expected = count(30).map(round => ({ round }))
    assert.deepEqual(await Promise.all(seen), expected)
    assert.equal(await documents.getInOrder('none'), undefined)
  })

  if (!capabilities.shared) return

  testStage('catchUp() resolves when listeners have the earlier commits of another node', async stage => {
    const [one, other] = [await stage.open(), await stage.open()]
    const delivered = listen(other.records)
    for (const round of count(20)) {
      const { writeNumber } = await one.records.append(write([received(round)]))
      assert.ok((await other.records.catchUp()) >= writeNumber)
      assert.deepEqual(delivered.at(-1)?.writeNumber, writeNumber)
    }
  })
}

const passing = (value: unknown) => write([received(value)], { store: false })

/** Streams, sessions and magic resources store write numbers as positions: they would skip a write whose number was reused. */
export function writeNumbers({ testStage, capabilities }: Suite): void {
  if (!capabilities.durable) return

  const kept: readonly (readonly [name: string, write: Append])[] = [
    ['a record', write([received('kept')])],
    ['a record that is stored already', write([measured(1_000, 1)])],
    ['a state', write([], { states: [state('kept')] })],
    ['nothing but a write id', write([received('passing')], { store: false, id: 'a' })],
  ]
  for (const [name, append] of kept) {
    testStage(`open() reuses no write number after a commit of ${name}`, async stage => {
      await reusesNone(stage, async ({ records }) => {
        await records.append(write([measured(1_000, 1)]))
        await records.append(passing(0))
        await records.append(append)
      })
    })
  }

  testStage('open() reuses no write number after a removal that was delivered', async stage => {
    await reusesNone(stage, async ({ records }) => {
      await records.append(write([measured(1_000, 1)]))
      await records.append(passing(0))
      assert.equal(await records.remove(thing, key, {}), 1)
    })
  })

  const puts: readonly (readonly [name: string, put: (store: Store, numbers: object) => Promise<unknown>])[] =
    [
      ['put', ({ documents }, numbers) => documents.put({ mark: { numbers } }, 'keep')],
      [
        'transact',
        ({ documents }, numbers) =>
          documents.transact([], () => ({ put: { mark: { numbers } }, result: undefined, purpose: 'keep' })),
      ],
      [
        'append',
        ({ records }, numbers) => records.append({ ...passing('last'), documents: { mark: { numbers } } }),
      ],
    ]
  for (const [name, put] of puts) {
    testStage(`${name}() of documents protects the numbers of unkept writes from reuse`, async stage => {
      await reusesNone(stage, async store => {
        await store.records.append(write([received('kept')]))
        const numbers: number[] = []
        for (const value of count(5)) numbers.push((await store.records.append(passing(value))).writeNumber)
        await put(store, numbers)
      })
    })
  }
}

/** Asserts that the first write number after a reopen is greater than every delivered write number. */
async function reusesNone(stage: Stage, writeSome: (store: Store) => Promise<void>): Promise<void> {
  const store = await stage.open()
  const delivered = listen(store.records)
  await writeSome(store)
  const { records } = await stage.reopen()
  const { writeNumber } = await records.append(write([received('after')]))
  const before = delivered.at(-1)?.writeNumber ?? 0
  assert.ok(writeNumber > before, `write number ${writeNumber} after ${before}`)
}
