import { createReadStream } from 'node:fs'
import { access, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../core/files/make-directory.ts'
import { restoreLevelStore } from '../../store/level/database/backup.ts'
import { storeLocation } from './choose-store.ts'

/**
 * Restores a backup (`POST /v2/admin/backup`) into a new or empty data directory. A backup contains no admin key.
 *
 * @throws Error with one line for the operator; the directory is then as it was before
 */
export async function restoreDataDir(backup: string, dataDir: string): Promise<void> {
  await access(backup)
  const isNew = await access(dataDir).then(
    () => false,
    () => true,
  )
  await makeDirectory(dataDir, 0o700)
  const [first] = await readdir(dataDir)
  if (first !== undefined)
    throw new Error(
      `the data directory ${dataDir} must be empty, but it contains ${first}: restore into a new one, or stop its server and rename it`,
    )
  // The store gets its final name when it is complete, so that a server never opens an incomplete store.
  const incomplete = join(dataDir, 'store-incomplete')
  try {
    await restoreLevelStore(createReadStream(backup), incomplete)
    await rename(incomplete, storeLocation(dataDir))
  } catch (error) {
    await rm(incomplete, { recursive: true, force: true })
    if (isNew) await rmdir(dataDir)
    throw error
  }
}
