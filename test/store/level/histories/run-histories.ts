import { join } from 'node:path'
import { History, Random } from '../../../../src/conformance/histories.ts'
import { count, readAll } from '../../../../src/conformance/writes.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { checkLevelStore } from '../../../../src/store/level/index.ts'
import { deaths } from '../compaction/die-at-batch.ts'
import { withStore } from '../compaction/packed-store.ts'
import { ExpectedRecords } from './expected-records.ts'
import { type Lived, live } from './killed-life.ts'

/** Histories in one store. */
export const historiesAtOnce = 50
/** Of a store. */
const lives = 3
const queries = 3

export interface HistoriesRun {
  readonly kills: number
  readonly faults: readonly string[]
}

/** What is known of a history. */
interface Known {
  readonly seed: number
  readonly history: History
  readonly expected: ExpectedRecords
}

/** Chunks histories in a store that is packed meanwhile and killed three times, and looks at all of it behind each kill. */
export async function runHistories(directory: string, firstSeed: number): Promise<HistoriesRun> {
  const location = join(directory, `store${firstSeed}`)
  const random = new Random(firstSeed)
  const seeds = count(historiesAtOnce).map(index => firstSeed + index)
  const known = seeds.map(seed => ({ seed, history: new History(seed), expected: new ExpectedRecords() }))
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
    for (const each of known) take(each, lived.get(each.seed))
    await withStore(location, async store => {
      for (const each of known) faults.push(...(await faultsOf(store, each, random)))
    })
    const { faults: found } = await checkLevelStore(location)
    faults.push(...found.map(({ fault }) => fault))
  }
  return { kills, faults: faults.map(fault => `seed ${firstSeed}: ${fault}`) }
}

function take({ history, expected }: Known, { begun, done }: Lived = { begun: 0, done: 0 }): void {
  for (const [index, action] of [...history.actions()].entries()) {
    if (index < done) expected.done(action)
    else if (index < begun) expected.begun(action)
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
