import type { StoreCapabilities } from '../store/contract.ts'
import { aggregateHistories } from './aggregate-histories.ts'
import { aggregates } from './aggregates.ts'
import { atomicity } from './atomicity.ts'
import { bounds } from './bounds.ts'
import { commitLog } from './commit-log.ts'
import { documents } from './documents.ts'
import { documentsWithWrites } from './documents-with-writes.ts'
import { durability } from './durability.ts'
import { inOrder } from './in-order.ts'
import { isolation } from './isolation.ts'
import { latest } from './latest.ts'
import { latestOfThings } from './latest-of-things.ts'
import { leading } from './leading.ts'
import { lifeCycle } from './life-cycle.ts'
import { listeners } from './listeners.ts'
import { locks } from './locks.ts'
import { nodes } from './nodes.ts'
import { order } from './order.ts'
import { paging } from './paging.ts'
import { puts } from './puts.ts'
import { receiptTimes } from './receipt-times.ts'
import { refusedWrites } from './refused-writes.ts'
import { removal } from './removal.ts'
import { removalOfOld } from './removal-of-old.ts'
import { removalTold } from './removal-told.ts'
import { resend } from './resend.ts'
import { resourceLimit } from './resource-limit.ts'
import { snapshotLife } from './snapshot-life.ts'
import { snapshots } from './snapshots.ts'
import { type RegisterTest, Stage, type StoreFactory } from './stage.ts'
import { states } from './states.ts'
import { tickets } from './tickets.ts'
import { values } from './values.ts'
import { writeIds } from './write-ids.ts'
import { writeNumbers } from './write-numbers.ts'

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
  removalTold,
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
