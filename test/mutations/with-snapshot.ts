import type { LatestOfThing, LatestQuery, Snapshot, StoreDriver } from '../../src/store/contract.ts'
import { withRecords } from './mutation.ts'

type Pages = AsyncIterable<readonly LatestOfThing[]>

/** The driver with another `latest` of its snapshots, which is given the right one. */
export function withLatest(
  driver: StoreDriver,
  latest: (query: LatestQuery, right: (query: LatestQuery) => Pages, snapshot: Snapshot) => Pages,
): StoreDriver {
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
