import { readdir } from 'node:fs/promises'
import { storeConformance } from '../../src/conformance/index.ts'
import { within } from '../helpers/waiting.ts'
import type { StoreUnderTest } from '../store/store-places.ts'
import type { Mutation } from './mutation.ts'
import { promisedDriver, settlingDriver } from './promised-driver.ts'

/** What the suite says of a store. */
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
      return { ...place, driver: () => settlingDriver(mutation.mutate(promisedDriver(place.driver()))) }
    },
  })
  return tests
}

/** The mutations of this folder, by name. */
export async function loadMutations(): Promise<readonly Mutation[]> {
  const ending = '.mutation.ts'
  const files = (await readdir(import.meta.dirname)).filter(file => file.endsWith(ending)).sort()
  const names = files.map(file => file.slice(0, -ending.length))
  const modules = await Promise.all(
    names.map(name => import(`./${name}.mutation.ts`) as Promise<{ mutation: Mutation }>),
  )
  return modules.map(({ mutation }) => mutation)
}

async function passes(body: () => Promise<void>): Promise<boolean> {
  return await within(body(), 'a test', testTimeout).then(
    () => true,
    () => false,
  )
}
