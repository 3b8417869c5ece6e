import { storeConformance } from '../../src/conformance/index.ts'
import { within } from '../helpers/waiting.ts'
import type { StoreUnderTest } from '../store/store-places.ts'
import { type Mutation, mutated } from './mutation.ts'
import { promisedDriver, settlingDriver } from './promised-driver.ts'
import { aggregateMutations } from './tables/aggregates.ts'
import { commitMutations } from './tables/commits.ts'
import { documentMutations } from './tables/documents.ts'
import { latestMutations } from './tables/latest.ts'
import { logMutations } from './tables/log.ts'
import { readMutations } from './tables/reads.ts'
import { removalMutations } from './tables/removals.ts'
import { writeMutations } from './tables/writes.ts'

/** All mutations with their names. */
export const mutations: readonly (readonly [name: string, Mutation])[] = [
  writeMutations,
  readMutations,
  latestMutations,
  aggregateMutations,
  removalMutations,
  commitMutations,
  logMutations,
  documentMutations,
].flatMap(table => Object.entries(table))

/** Outcome of the suite on a store. */
export interface Verdict {
  /** How many tests it ran. */
  readonly tests: number
  /** Names of the tests that turned red, in the order of the suite. */
  readonly red: readonly string[]
}

interface ConformanceTest {
  readonly name: string
  readonly body: () => Promise<void>
}

/** A broken store may leave a promise hanging; a test that takes this long is red. Milliseconds. */
const testTimeout = 20_000

/** Runs the conformance suite on a store, mutated if a mutation is given. */
export async function judge(store: StoreUnderTest, mutation?: Mutation): Promise<Verdict> {
  const tests = testsOf(store, mutation)
  const red: string[] = []
  for (const { name, body } of tests) if (!(await passes(body))) red.push(name)
  return { tests: tests.length, red }
}

/** Whether any test turns red; none is run behind the first that does. */
export async function isNoticed(store: StoreUnderTest, mutation: Mutation): Promise<boolean> {
  for (const { body } of testsOf(store, mutation)) if (!(await passes(body))) return true
  return false
}

function testsOf(store: StoreUnderTest, mutation: Mutation | undefined): readonly ConformanceTest[] {
  const tests: ConformanceTest[] = []
  storeConformance({
    capabilities: store.capabilities,
    test: (name, body) => tests.push({ name, body }),
    factory: async () => {
      const place = await store.factory()
      if (mutation === undefined) return place
      return { ...place, driver: () => settlingDriver(mutated(promisedDriver(place.driver()), mutation)) }
    },
  })
  return tests
}

async function passes(body: () => Promise<void>): Promise<boolean> {
  return await within(body(), 'a test', testTimeout).then(
    () => true,
    () => false,
  )
}
