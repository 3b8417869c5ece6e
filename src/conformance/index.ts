import type { StoreCapabilities } from '../store/contract.ts'
import { aggregateHistories, aggregates } from './aggregates.ts'
import { commitLog } from './commit-log.ts'
import { documents, puts } from './documents.ts'
import { documentsWithWrites, refusedWrites } from './documents-with-writes.ts'
import { atomicity, isolation } from './isolation.ts'
import { latest, latestOfThings, states } from './latest.ts'
import { durability, lifeCycle } from './life-cycle.ts'
import { listeners, removalDelivered } from './listeners.ts'
import { leading, locks, nodes } from './nodes.ts'
import { inOrder, order, receiptTimes, writeNumbers } from './order.ts'
import { bounds, paging } from './paging.ts'
import { removal, removalOfOld } from './removal.ts'
import { resend, tickets, writeIds } from './resend.ts'
import { resourceLimit } from './resource-limit.ts'
import { snapshotLife, snapshots } from './snapshots.ts'
import { type RegisterTest, Stage, type StoreFactory } from './stage.ts'
import { values } from './values.ts'

export type { RegisterTest, StoreFactory, StorePlace } from './stage.ts'

export interface ConformanceOptions {
  /** Registers a test with the runner of your choice: vitest's `test`, `node:test`'s, or your own. */
  readonly test: RegisterTest
  /** What the store can do, as its drivers declare it: the suite leaves out a test for this reason alone. */
  readonly capabilities: StoreCapabilities
  /** Makes a new, empty place for a store; called once for each test. */
  readonly factory: StoreFactory
}

/**
 * Registers the tests that every store has to pass: the promises of `store/contract.ts`, one by one.
 *
 * ```ts
 * storeConformance({
 *   test,
 *   capabilities: createMyStore({ location: '' }).capabilities,
 *   factory: async () => {
 *     const location = await mkdtemp(join(tmpdir(), 'my-store-'))
 *     return {
 *       driver: () => createMyStore({ location }),
 *       cleanUp: () => rm(location, { recursive: true }),
 *       writeNewerFormat: () => writeFile(join(location, 'FORMAT'), '2'),
 *     }
 *   },
 * })
 * ```
 */
export function storeConformance({ test, capabilities, factory }: ConformanceOptions): void {
  const suite = {
    capabilities,
    test: (name: string, body: (stage: Stage) => Promise<void>) =>
      test(name, async () => {
        const stage = new Stage(await factory())
        try {
          await body(stage)
        } finally {
          await stage.close()
        }
      }),
  }
  for (const register of areas) register(suite)
}

const areas = [
  order,
  receiptTimes,
  locks,
  atomicity,
  bounds,
  paging,
  resend,
  writeIds,
  resourceLimit,
  isolation,
  values,
  removal,
  removalDelivered,
  removalOfOld,
  latest,
  states,
  snapshots,
  latestOfThings,
  snapshotLife,
  commitLog,
  listeners,
  tickets,
  documents,
  puts,
  documentsWithWrites,
  inOrder,
  refusedWrites,
  durability,
  writeNumbers,
  lifeCycle,
  nodes,
  leading,
  aggregates,
  aggregateHistories,
]
