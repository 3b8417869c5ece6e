import { storeConformance } from '../../src/conformance/index.ts'
import { within } from '../helpers/waiting.ts'
import type { StoreUnderTest } from '../store/store-places.ts'
import { type Mutation, mutated } from './mutation.ts'
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

/** A broken store may leave a promise hanging; a test that takes this long is red. Milliseconds. */
const testTimeout = 20_000

/** Names of the tests of the conformance suite that are red on a store, mutated if a mutation is given. Runs no test before it is asked for. */
export async function* redTests(store: StoreUnderTest, mutation?: Mutation): AsyncGenerator<string> {
  const tests: { readonly name: string; readonly body: () => Promise<void> }[] = []
  storeConformance({
    capabilities: store.capabilities,
    test: (name, body) => tests.push({ name, body }),
    factory: async () => {
      const place = await store.factory()
      if (mutation === undefined) return place
      return { ...place, driver: () => mutated(place.driver(), mutation) }
    },
  })
  for (const { name, body } of tests) {
    const isGreen = await within(body(), 'a test', testTimeout).then(
      () => true,
      () => false,
    )
    if (!isGreen) yield name
  }
}
