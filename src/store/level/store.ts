import type { Observer } from '../../core/observer.ts'
import { assertOptions } from '../../core/options/given-options.ts'
import type { StoreDriver } from '../contract.ts'
import { type Compaction, usualCompaction } from './compaction/compactor.ts'
import { backUp } from './database/backup.ts'
import { Database } from './database/database.ts'
import { bytesOfStore } from './database/directory-size.ts'
import { DiskSpace } from './database/disk-space.ts'
import { formatVersion } from './database/identity.ts'
import { givenLevelStoreRules } from './database/option-rules.ts'
import { createDocuments } from './documents.ts'
import { createRecords } from './records.ts'

export interface LevelStoreOptions {
  /** Directory of the database; created if missing. `thingwire serve` uses `store` in its data directory. */
  readonly location: string
  /** `synced` (default): an acked write survives a power failure; `written`: only a process crash. `transact` always syncs. */
  readonly durability?: 'synced' | 'written'
  /** Writes are refused while the disk has fewer free bytes than this, or less than 2 MiB. Default 0. */
  readonly minFreeSpace?: number
  /** Its `committed` is called after each commit. Default: none. */
  readonly observer?: Pick<Observer, 'committed'>
  /** Called if `open` has created the store. */
  readonly onCreated?: () => void
  /** Called if `open` has upgraded the store to a newer format. Older versions can then no longer open it. */
  readonly onNewFormat?: (formats: { readonly before: string; readonly now: string }) => void
  /** Called once if the directory was moved, removed or replaced. After that, no write is acknowledged and nothing is read. */
  readonly onLost?: (error: Error) => void
}

/** The embedded store: LevelDB in this process, not yet open. @throws TypeError if an option is missing, wrong or unknown */
export function createLevelStore(options: LevelStoreOptions): StoreDriver {
  assertOptions('createLevelStore', givenLevelStoreRules, options, "{ location: './data/store' }")
  return createCompactingStore(options, usualCompaction)
}

/** @param compaction when and how records are packed */
export function createCompactingStore(options: LevelStoreOptions, compaction: Compaction): StoreDriver {
  const { observer, onCreated, onNewFormat, onLost } = options
  const space = new DiskSpace(options.location, options.minFreeSpace ?? 0)
  const database = new Database(options.location, { create: true, space, onLost })
  const { records, commits, head, clock, refused, compactor } = createRecords(
    database,
    space,
    options.durability !== 'written',
    observer,
    compaction,
  )
  return {
    capabilities: { durable: true, shared: false, backup: true },
    records,
    documents: createDocuments(database, head, space, {
      put: (documents, ticket) => commits.push({ documents, ticket, receivedAt: Number.NaN }),
      alone: task => commits.alone(task),
    }),
    refused,
    clock,
    backup: () => backUp(database),
    isReady: () => database.isUsable(),
    size: async () => ({ bytes: await bytesOfStore(options.location) }),
    async open() {
      const { isCreated, formatBefore: before } = await database.open()
      await head.load(database)
      clock.start(head.counters.newestReceipt)
      await space.start()
      compactor.start()
      if (isCreated) onCreated?.()
      if (before !== undefined) onNewFormat?.({ before, now: String(formatVersion) })
    },
    async close() {
      clock.stop()
      await compactor.stop()
      await space.stop()
      await commits.alone(async () => {})
      await database.close()
    },
  }
}
