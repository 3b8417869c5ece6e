import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { movedDocument } from '../../../src/server/keeping/migrate.ts'
import type { Store, StoreDriver } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { type MigrateOptions, migrate, type Progress } from '../../../src/store/migrate/migrate.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { fill } from '../everything.ts'

/** Milliseconds. */
export const storeTimeout = 60_000

/** An embedded store that nobody holds, and the place in the Redis of this url where it is to go. */
export async function stageMigration(
  url: string,
  filling: (store: Store) => Promise<void> = fill,
): Promise<MigrateOptions> {
  const location = await temporaryDirectory()
  const store = await openStore(createLevelStore({ location }), { storeTimeout })
  await filling(store)
  await store.close()
  return {
    location,
    url,
    prefix: randomUUID(),
    documentOf: movedDocument,
    onProgress: () => {},
    onWarning: () => {},
  }
}

/** The store in Redis that these options move it to. */
export function targetOf({ url, prefix = 'thingwire' }: MigrateOptions): StoreDriver {
  return createRedisStore({ url, prefix })
}

/** Begins a migration that ends when the first records were moved, or verified. */
export async function interrupt(options: MigrateOptions, at: Progress['step'] = 'moved'): Promise<void> {
  const onProgress = ({ step, records }: Progress) => {
    if (step === at && records > 0) throw new Error('interrupted')
  }
  await expect(migrate({ ...options, onProgress })).rejects.toThrow('interrupted')
}
