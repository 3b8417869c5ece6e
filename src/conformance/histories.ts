import { setImmediate } from 'node:timers/promises'
import { utcBuckets } from '../core/time/utc-buckets.ts'
import type { Append, RecordStore } from '../store/contract.ts'
import { assertFolded } from './folding.ts'
import { count, key, measured, received, removeAllOld, write } from './writes.ts'

/** One change of a resource. Times are in milliseconds. */
export type Action =
  | { readonly append: Append }
  | { readonly remove: { readonly from: number; readonly to: number } }
  | { readonly removeOld: number }

/** The earliest datetime of a record in a history. */
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

/** A pseudo-random history of one resource: writes, late records, resends, removals, retention. */
export class History {
  readonly thingId: string
  readonly #seed: number
  readonly #random: Random
  readonly #kinds: readonly ((random: Random) => string)[]
  readonly #step: number
  readonly #tried: string[] = []
  #now = begin

  constructor(seed: number) {
    this.thingId = `history${seed}`
    this.#seed = seed
    const random = new Random(seed)
    this.#random = random
    // Only one history in three contains huge numbers, because a huge number hides all other numbers in a sum.
    this.#kinds = values.slice(0, random.below(3) === 0 ? values.length : values.length - 1)
    this.#step = random.of([1, 50, 1_000, 30_000, 600_000])
  }

  *actions(): Generator<Action, void, undefined> {
    const random = this.#random
    for (const _ of count(3 + random.below(8))) {
      const kind = random.below(8)
      if (kind === 0) {
        yield this.#noted({ remove: { from: this.#some(random), to: this.#some(random) } })
      } else if (kind === 1) {
        yield this.#noted({ removeOld: begin + random.below(Math.max(this.#now - begin, 1)) })
      } else {
        const length = 1 + random.of([random.below(3), random.below(40), random.below(300)])
        const batch = count(length).map(() => this.#sent())
        const { thingId } = this
        yield this.#noted({ append: write(batch, { thingId }) })
        // Sends the first five records again, in another write.
        if (random.below(4) === 0) yield this.#noted({ append: write(batch.slice(0, 5), { thingId }) })
      }
    }
  }

  /** @param random must not be the generator of the actions, or calling this method would change the history */
  async assertNow(records: Pick<RecordStore, 'aggregate' | 'read'>, random: Random): Promise<void> {
    const [from, to] = [this.#some(random), this.#some(random)]
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
    const message = `history ${this.#seed}: ${[...this.#tried, asked].join('; ')}`
    await assertFolded(records, { thingId: this.thingId, ...query, buckets: utcBuckets(length) }, message)
  }

  #sent() {
    const random = this.#random
    const value = random.of(this.#kinds)(random)
    this.#now += random.below(2 * this.#step)
    const late = random.below(8) === 0 ? random.below(100 * this.#step) : 0
    const datetime = Math.max(this.#now - late, begin)
    return { ...(random.below(10) === 0 ? received(0) : measured(datetime, 0)), value }
  }

  #some(random: Random): number {
    return begin + random.below(Math.max(this.#now - begin, 1) + this.#step)
  }

  #noted(action: Action): Action {
    this.#tried.push('append' in action ? `append(${action.append.records.length})` : JSON.stringify(action))
    return action
  }
}

export async function act(records: RecordStore, thingId: string, action: Action): Promise<void> {
  if ('append' in action) {
    await records.append(action.append)
  } else if ('remove' in action) {
    await records.remove(thingId, key, action.remove)
  } else {
    await removeAllOld(records, action.removeOld, key, thingId)
  }
  await setImmediate()
}

/** Pseudo-random numbers, the same for each seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A whole number from 0 to `bound`, exclusive. */
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
