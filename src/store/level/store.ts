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
  /** Directory of the database; created if it does not exist. In a data directory of `thingwire serve` it is `store`. */
  readonly location: string
  /** `synced` (default): an ack survives loss of power; `written`: only loss of the process. `transact` always waits for the disk. */
  readonly durability?: 'synced' | 'written'
  /** Free bytes on the disk below which writes are refused, at least 2 MiB. Default 0. */
  readonly minFreeSpace?: number
  /** Called with each commit. Default: nobody. */
  readonly observer?: Pick<Observer, 'committed'>
  /** Called if `open` has created the store. Default: nobody. */
  readonly onCreated?: () => void
  /** Called if `open` has given the store a newer format, after which no older version opens it. Default: nobody. */
  readonly onNewFormat?: (formats: { readonly before: string; readonly now: string }) => void
  /** Called once if the directory was moved, removed or replaced: nothing is acknowledged or read any more. Default: nobody. */
  readonly onLost?: (error: Error) => void
}

/** The embedded store: LevelDB in this process, not open yet. @throws TypeError of an option that is missing, wrong or unknown */
export function createLevelStore(options: LevelStoreOptions): StoreDriver {
  assertOptions('createLevelStore', givenLevelStoreRules, options, "{ location: './data/store' }")
  return createCompactingStore(options, usualCompaction)
}

/** @param compaction when records are packed */
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
