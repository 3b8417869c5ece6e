import { existsSync } from 'node:fs'
import { access, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../core/files/make-directory.ts'

/**
 * Name of a file that marks a data directory after its store has disappeared under a running server, for example because a file
 * system was unmounted. A restarted server would otherwise begin with an empty store. Remounting the file system hides the mark.
 */
const lostName = 'store-lost'

/** Writes the mark if there is no store. Never rejects. @param location path of the store @returns whether it was written */
export async function markLost(dataDir: string, location: string, error: Error): Promise<boolean> {
  if (await isThere(join(location, 'CURRENT'))) return false
  const text = `${new Date().toISOString()} ${error.message}. A server that starts here would begin with an empty store.
To allow that, remove this file.
`
  try {
    await makeDirectory(dataDir, 0o700)
    await writeFile(join(dataDir, lostName), text, { mode: 0o600 })
    return true
  } catch {
    return false
  }
}

/** @param location path of the store @throws Error with one line for the operator if the store has disappeared and is not back */
export async function assertNotLost(dataDir: string, location: string): Promise<void> {
  const mark = join(dataDir, lostName)
  if (!(await isThere(mark))) return
  // If the store has been moved back, the mark next to it is removed.
  if (await isThere(join(location, 'CURRENT'))) return await rm(mark, { force: true })
  throw new Error(
    `the store in ${dataDir} disappeared while a server was running, and has not come back: mount its file system, or move it back. To begin with an empty store, remove ${mark}`,
  )
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}

/** Name of a file that marks a data directory after its store was moved into Redis. */
const movedName = 'moved-to-redis'
const movedText = `thingwire migrate has moved this store into Redis. Redis would miss the writes of a server on this directory.
To start a server on this directory anyway, remove this file.
`

/** Keeps servers from starting on the data directory. Idempotent. */
export async function markMoved(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, movedName), movedText)
}

/** @throws Error with one line for the operator: the store was moved into Redis */
export async function assertNotMoved(dataDir: string): Promise<void> {
  const mark = join(dataDir, movedName)
  if (!existsSync(mark)) return
  throw new Error(
    `the store in ${dataDir} was moved into Redis: set THINGWIRE_REDIS_URL. To start on the old store anyway, without the writes since then, remove ${mark}`,
  )
}
