import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Action, History, Random } from '../../../../src/conformance/histories.ts'
import { count, readAll } from '../../../../src/conformance/writes.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { checkLevelStore } from '../../../../src/store/level/index.ts'
import { Child } from '../../../helpers/child.ts'
import { type DyingBatch, deaths } from '../compaction/die-at-batch.ts'
import { withStore } from '../compaction/packed-store.ts'

/** Histories in one store. */
export const historiesAtOnce = 50
/** Of a store. */
const lives = 3
const queries = 3

/** Chunks histories in a store that is packed meanwhile and killed three times, and looks at all of it behind each kill. */
export async function runHistories(directory: string, firstSeed: number) {
  const location = join(directory, `store${firstSeed}`)
  const random = new Random(firstSeed)
  const seeds = count(historiesAtOnce).map(index => firstSeed + index)
  const all = seeds.map(known)
  let kills = 0
  const faults: string[] = []
  for (const number of count(lives)) {
    const isOfCompactor = random.below(2) === 0
    const dying = {
      death: random.of(deaths),
      number: 1 + random.below(isOfCompactor ? 200 : 300),
      isOfCompactor,
    }
    const life = { location, seeds, number, records: random.of([8, 64, 512]), dying }
    const { isKilled, lived, errors } = await live(life)
    if (isKilled) kills++
    if (errors) faults.push(`while it lived: ${errors}`)
    for (const each of all) take(each, lived.get(each.seed))
    await withStore(location, async store => {
      for (const each of all) faults.push(...(await faultsOf(store, each, random)))
    })
    const { faults: found } = await checkLevelStore(location)
    faults.push(...found.map(({ fault }) => fault))
  }
  return { kills, faults: faults.map(fault => `seed ${firstSeed}: ${fault}`) }
}

/** What is known of a history. */
type Known = ReturnType<typeof known>

function known(seed: number) {
  return { seed, history: new History(seed), expected: new ExpectedRecords() }
}

function take({ history, expected }: Known, { begun, done } = { begun: 0, done: 0 }): void {
  for (const [index, action] of [...history.actions()].entries()) {
    if (index < begun) expected.take(action, index < done)
  }
}

async function faultsOf(store: Store, { history, expected }: Known, random: Random): Promise<string[]> {
  const { thingId } = history
  const faults = expected.compare(await readAll(store.records, { thingId }))
  for (const _ of count(queries)) {
    await history.assertNow(store.records, random).catch((error: Error) => faults.push(error.message))
  }
  return faults.map(fault => `${thingId}: ${fault}`)
}

/** By datetime and value. */
type Name = string

interface Kept {
  readonly datetime: number
  isCertain: boolean
  /** In one write: a record that comes again in another is the same (contract §4 (a)). */
  most: number
}

/** Receipt times are later than all datetimes of histories. */
const firstReceipt = Date.UTC(2026, 0, 1)

/** Which records with datetimes of their own a history has, as far as it was answered. */
class ExpectedRecords {
  readonly #kept = new Map<Name, Kept>()
  /** What an append that was not answered has brought: all of it or nothing. */
  #unanswered: Name[] = []

  /** Compares with what is stored, which is what is certain from now on. @returns what is wrong */
  compare(records: readonly { readonly datetime: number; readonly value: string }[]): string[] {
    const stored = new Map<Name, number>()
    for (const { datetime, value } of records) {
      if (datetime >= firstReceipt) continue
      const name = nameOf(datetime, value)
      stored.set(name, (stored.get(name) ?? 0) + 1)
    }
    const faults: string[] = []
    for (const [name, count] of stored) {
      const most = this.#kept.get(name)?.most ?? 0
      if (count > most) faults.push(`${name} is there ${count} times, of at most ${most}`)
    }
    for (const [name, { isCertain }] of this.#kept) {
      if (isCertain && !stored.has(name)) faults.push(`${name} is missing`)
    }
    const brought = this.#unanswered.filter(name => stored.has(name)).length
    if (brought > 0 && brought < this.#unanswered.length) {
      faults.push(`${brought} records of an append of ${this.#unanswered.length}`)
    }
    this.#unanswered = []
    for (const [name, kept] of this.#kept) {
      if (stored.has(name)) kept.isCertain = true
      else this.#kept.delete(name)
    }
    return faults
  }

  /** @param isCertain whether the action was answered, or only begun */
  take(action: Action, isCertain: boolean): void {
    if ('append' in action) this.#append(action.append.records, isCertain)
    else if ('remove' in action) this.#remove(action.remove.from, action.remove.to, isCertain)
    else this.#removeOld(action.removeOld, isCertain)
  }

  #append(
    records: readonly { readonly datetime: number; readonly value: string; readonly explicit: boolean }[],
    isCertain: boolean,
  ): void {
    const counts = new Map<Name, number>()
    for (const { datetime, value, explicit } of records) {
      if (!explicit) continue
      const name = nameOf(datetime, value)
      const most = (counts.get(name) ?? 0) + 1
      counts.set(name, most)
      const kept = this.#kept.get(name)
      if (!kept && !isCertain && most === 1) this.#unanswered.push(name)
      if (!kept) this.#kept.set(name, { datetime, isCertain, most })
      else {
        kept.isCertain ||= isCertain
        kept.most = Math.max(kept.most, most)
      }
    }
  }

  /** @param to exclusive */
  #remove(from: number, to: number, isCertain: boolean): void {
    for (const [name, kept] of this.#kept) {
      if (kept.datetime < from || kept.datetime >= to) continue
      if (isCertain) this.#kept.delete(name)
      else kept.isCertain = false
    }
  }

  /** The newest record stays, however old it is. Which one that is of those with its datetime, or with a receipt time, is not known here. */
  #removeOld(before: number, isCertain: boolean): void {
    const newest = Math.max(...[...this.#kept.values()].map(({ datetime }) => datetime))
    this.#remove(0, Math.min(before, newest), isCertain)
    this.#remove(newest, before, false)
  }
}

function nameOf(datetime: number, value: string): Name {
  return `${datetime} ${value}`
}

/** Of a store, from its opening to kill -9. */
export interface Life {
  readonly location: string
  /** Of the histories that go on in it. */
  readonly seeds: readonly number[]
  /** How many lives were before. */
  readonly number: number
  /** Most records of a packed chunk. */
  readonly records: number
  readonly dying: DyingBatch
}

const program = fileURLToPath(new URL('killed-histories.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

/** @returns whether it was killed (otherwise all histories went on to their end), how far each came by its seed, what was wrong */
async function live(life: Life) {
  const child = new Child(process.execPath, ['--import', tsx, program, JSON.stringify(life)])
  const { signal, stdout, stderr } = await child.exited
  const lived = new Map<number, { begun: number; done: number }>()
  for (const [, seed, , count] of stdout.matchAll(/^(\d+) (begins|has done) (\d+)$/gm)) {
    lived.set(Number(seed), { begun: 0, done: Number(count) })
  }
  for (const [, seed] of stdout.matchAll(/^(\d+) begins \d+$/gm)) {
    const of = lived.get(Number(seed))
    if (of) of.begun++
  }
  return { isKilled: signal === 'SIGKILL', lived, errors: stderr }
}
