import { setImmediate } from 'node:timers/promises'
import { utcBuckets } from '../core/time/utc-buckets.ts'
import type { RecordStore } from '../store/contract.ts'
import { assertFolded } from './folding.ts'
import type { Suite } from './stage.ts'
import { count, key, measured, received, write } from './writes.ts'

const seed = 20_261_121
const histories = 200
/** So that a store can commit several as one. */
const atOnce = 20

const begin = 1_700_000_000_000
const lengths = [1, 7, 100, 1_000, 9_999, 60_000, 900_000, 3_600_000, 86_400_000]
const values = [
  () => '"text"',
  () => '{"a":[1]}',
  () => 'null',
  (random: Random) => String(random.below(2 ** 31) - 2 ** 30),
  (random: Random) => String(random.below(100_000) / 1_000),
  (random: Random) => String(-random.below(1_000) / 7),
  (random: Random) =>
    random.of(['1e+308', '-1e+308', '5e-324', '10000000000000000', '0', '1.7976931348623157e+308']),
]

export function aggregateHistories({ test }: Suite): void {
  test('aggregate() gives what the records add up to, after any history of writes and removals', async stage => {
    const { records } = await stage.open()
    for (let first = 0; first < histories; first += atOnce) {
      await Promise.all(count(atOnce).map(each => run(records, first + each)))
    }
  })
}

async function run(records: RecordStore, history: number): Promise<void> {
  const random = new Random(seed + history)
  const thingId = `history${history}`
  // Huge numbers in some histories only: they leave nothing to be seen of the others.
  const kinds = values.slice(0, random.below(3) === 0 ? values.length : values.length - 1)
  const step = random.of([1, 50, 1_000, 30_000, 600_000])
  let now = begin
  const sent = () => {
    const value = random.of(kinds)(random)
    now += random.below(2 * step)
    const late = random.below(8) === 0 ? random.below(100 * step) : 0
    const datetime = Math.max(now - late, begin)
    return { ...(random.below(10) === 0 ? received(0) : measured(datetime, 0)), value }
  }
  const some = () => begin + random.below(Math.max(now - begin, 1) + step)
  const tried: string[] = []
  const assertNow = async () => {
    const [from, to] = [some(), some()]
    const range = random.of([
      {},
      { from },
      { to },
      { from, to },
      { from: Math.min(from, to), to: Math.max(from, to) },
    ])
    const query = {
      order: random.of(['asc', 'desc'] as const),
      limit: random.of([1, 3, 20, 10_000]),
      ...range,
    }
    const length = random.of(lengths)
    const asked = `aggregate(${JSON.stringify(query)}) by ${length} ms`
    const message = `history ${history} of seed ${seed}: ${[...tried, asked].join('; ')}`
    await assertFolded(records, { thingId, ...query, buckets: utcBuckets(length) }, message)
  }
  for (const _ of count(3 + random.below(8))) {
    const action = random.below(8)
    if (action === 0) {
      const range = { from: some(), to: some() }
      tried.push(`remove(${JSON.stringify(range)})`)
      await records.remove(thingId, key, range)
    } else if (action === 1) {
      const before = begin + random.below(Math.max(now - begin, 1))
      tried.push(`removeOld(${before})`)
      let from: string | undefined
      do from = (await records.removeOld(thingId, key, before, from)).next
      while (from !== undefined)
    } else {
      const batch = count(1 + random.of([random.below(3), random.below(40), random.below(300)])).map(sent)
      tried.push(`append(${batch.length})`)
      await records.append(write(batch, { thingId }))
      // A resend, in another write.
      if (random.below(4) === 0) await records.append(write(batch.slice(0, 5), { thingId }))
    }
    if (random.below(3) === 0) await assertNow()
    await setImmediate()
  }
  await assertNow()
  await assertNow()
}

/** Numbers that are the same in each run (mulberry32). */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }
}
