import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { listen, readWholeLog } from './views.ts'
import { ascending, count, readAll, received, valuesOf, write } from './writes.ts'

/** Milliseconds. */
const tenSeconds = 10_000
const tenYears = 10 * 365.25 * 86_400_000

/** The store gives receipt times, in the order of the writes. */
export function receiptTimes({ test, capabilities }: Suite): void {
  test('append() gives a record without a datetime one receipt time, wherever it is seen', async stage => {
    const { records } = await stage.open()
    records.logWhen(() => true)
    const told = listen(records)
    const begin = Date.now()
    await records.append(write([received(1), received(2)]))
    const receivedAt = told[0]?.receivedAt ?? 0
    assert.ok(receivedAt >= begin - tenSeconds && receivedAt <= Date.now() + tenSeconds, `at ${receivedAt}`)
    const times = told[0]?.records.map(({ datetime, explicit }) => ({ datetime, explicit }))
    assert.deepEqual(times, [
      { datetime: receivedAt, explicit: false },
      { datetime: receivedAt, explicit: false },
    ])
    assert.deepEqual(
      (await readAll(records)).map(({ datetime }) => datetime),
      [receivedAt, receivedAt],
    )
    assert.deepEqual(await readWholeLog(records), told)
  })

  test('append() gives receipt times that do not go back, and the clock does not either', async stage => {
    const { records, clock } = await stage.open()
    const told = listen(records)
    const before = clock.now()
    for (const value of count(20)) {
      await records.append(write([received(value)], value % 3 === 0 ? { store: false } : {}))
    }
    const times = told.map(({ receivedAt }) => receivedAt)
    assert.deepEqual(times, ascending(times))
    assert.ok(clock.now() >= (times.at(-1) ?? 0) && clock.now() >= before)
  })

  if (capabilities.durable) {
    test('open() goes on from the newest receipt time', async stage => {
      const before = await stage.open()
      const told = listen(before.records)
      await before.records.append(write([received(1)]))
      const { records, clock } = await stage.reopen()
      const toldAfter = listen(records)
      assert.ok(clock.now() >= (told[0]?.receivedAt ?? 0))
      await records.append(write([received(2)]))
      assert.ok((toldAfter[0]?.receivedAt ?? 0) >= (told[0]?.receivedAt ?? 0))
    })
  }

  if (!capabilities.shared) return

  for (const [text, apart] of [
    ['10 s', tenSeconds],
    ['10 years', tenYears],
  ] as const) {
    test(`append() gives receipt times by one clock where those of two nodes are ${text} apart`, async stage => {
      const [one, other] = [await stage.open(), await stage.open()]
      const told = listen(one.records)
      const began = Date.now()
      for (const value of count(10)) {
        await withClock(apart, () => one.records.append(write([received(2 * value)])))
        await withClock(-apart, () => other.records.append(write([received(2 * value + 1)])))
      }
      assert.deepEqual(await valuesOf(one.records), count(20))
      const times = (await readWholeLog(one.records)).map(({ receivedAt }) => receivedAt)
      assert.deepEqual(times, ascending(times))
      assert.ok(
        times.every(time => Math.abs(time - began) < 9_000),
        `received at ${times}, begun at ${began}`,
      )
      assert.ok(told.length > 0)
      const now = await withClock(apart, async () => one.clock.now())
      assert.ok(Math.abs(now - Date.now()) < 9_000, `${one.clock.now()}`)
    })
  }
}

/** Runs a task with a wall clock of this process that is ahead by so many milliseconds. */
async function withClock<T>(ahead: number, task: () => Promise<T>): Promise<T> {
  const { now } = Date
  Date.now = () => now() + ahead
  try {
    return await task()
  } finally {
    Date.now = now
  }
}
