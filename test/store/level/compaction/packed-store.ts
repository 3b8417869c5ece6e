import type { Store } from '../../../../src/store/contract.ts'
import {
  type Compaction,
  Compactor,
  usualCompaction,
} from '../../../../src/store/level/compaction/compactor.ts'
import { Database } from '../../../../src/store/level/database/database.ts'
import { type Entry, scan } from '../../../../src/store/level/database/scan.ts'
import { createLevelStore } from '../../../../src/store/level/index.ts'
import { keysOf, prefix } from '../../../../src/store/level/keys.ts'
import { Unpacked } from '../../../../src/store/level/staging/unpacked.ts'
import { openStore } from '../../../../src/store/open-store.ts'

type Parts = ConstructorParameters<typeof Compactor>[0]

/** Opens a store for a task, and closes it. */
export async function withStore<T>(location: string, task: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(createLevelStore({ location }))
  try {
    return await task(store)
  } finally {
    await store.close()
  }
}

/** Runs a task on a store that nobody has open. */
export async function withDatabase<T>(
  location: string,
  task: (database: Database) => Promise<T>,
): Promise<T> {
  const database = new Database(location)
  await database.open()
  try {
    return await task(database)
  } finally {
    await database.close()
  }
}

/** Looks at every resource of a store that nobody has open, and packs what is to be packed. */
export async function packAll(
  location: string,
  compaction: Partial<Compaction> = {},
  parts: Partial<Parts> = {},
): Promise<void> {
  await withDatabase(location, async database => {
    const usual: Parts = {
      database,
      between: task => task(),
      isShort: async () => false,
      unpacked: new Unpacked(usualCompaction.growth),
    }
    const rests = { idle: 0, busy: 0 }
    await new Compactor({ ...usual, ...parts }, { ...usualCompaction, rests, ...compaction }).packAll()
  })
}

/** The entries of all records of a store that nobody has open. */
export async function entriesOf(location: string): Promise<Entry[]> {
  return await withDatabase(location, async database => {
    const entries: Entry[] = []
    for await (const some of scan(database, keysOf(prefix.record))) entries.push(...some)
    return entries
  })
}
