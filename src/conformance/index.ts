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
import { type RegisterTest, Stage, type StoreFactory, type Suite } from './stage.ts'
import { values } from './values.ts'

export type { RegisterTest, StoreFactory, StorePlace } from './stage.ts'

export interface ConformanceOptions {
  /** Registers a test with the runner of your choice: `test` of vitest or of `node:test`, or your own function. */
  readonly test: RegisterTest
  /** The capabilities that the drivers of the store declare. Tests for missing capabilities are left out. */
  readonly capabilities: StoreCapabilities
  /** Creates a new, empty place for a store. Called once in each test. */
  readonly factory: StoreFactory
}

/**
 * Registers the tests that every store has to pass: one or more for each promise of `store/contract.ts`.
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
  const testStage: Suite['testStage'] = (name, body) =>
    test(name, async () => {
      const stage = new Stage(await factory())
      try {
        await body(stage)
      } finally {
        await stage.close()
      }
    })
  const suite: Suite = {
    capabilities,
    test: (name, body) => testStage(name, async stage => await body(await stage.open())),
    testStage,
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
