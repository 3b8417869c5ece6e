import type { LatestOfThing, LatestQuery, Snapshot } from '../../src/store/contract.ts'
import { withRecords } from './mutation.ts'
import type { PromisedDriver } from './promised-driver.ts'

type Pages = AsyncIterable<readonly LatestOfThing[]>

/** The driver with another `latest` of its snapshots, which is given the right one. */
export function withLatest(
  driver: PromisedDriver,
  latest: (query: LatestQuery, right: (query: LatestQuery) => Pages, snapshot: Snapshot) => Pages,
): PromisedDriver {
  return withRecords(driver, {
    snapshot: async () => {
      const snapshot = await driver.records.snapshot()
      return {
        writeNumber: snapshot.writeNumber,
        latest: query => latest(query, each => snapshot.latest(each), snapshot),
        close: () => snapshot.close(),
      }
    },
  })
}
