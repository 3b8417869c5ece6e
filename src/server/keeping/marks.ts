import { existsSync } from 'node:fs'
import { access, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../core/files/make-directory.ts'

/**
 * Says at the place of a data directory that its store went away under a server. Whatever starts the server again would have it
 * begin with an empty store there, as where the file system of the data directory is not mounted. Once that is back it hides
 * the mark.
 */
const lostName = 'store-lost'

/** Leaves the mark unless there is a store. Never rejects. @param location of the store @returns whether the mark is there now */
export async function markLost(dataDir: string, location: string, error: Error): Promise<boolean> {
  if (await isThere(join(location, 'CURRENT'))) return false
  const text = `${new Date().toISOString()} ${error.message}. A server that starts here would begin with an empty store.
To let it, remove this file.
`
  try {
    await makeDirectory(dataDir, 0o700)
    await writeFile(join(dataDir, lostName), text, { mode: 0o600 })
    return true
  } catch {
    return false
  }
}

/** @param location of the store @throws Error with one line for the operator: the store that was here has not come back */
export async function assertNotLost(dataDir: string, location: string): Promise<void> {
  const mark = join(dataDir, lostName)
  if (!(await isThere(mark))) return
  // It was moved back beside the mark.
  if (await isThere(join(location, 'CURRENT'))) return await rm(mark, { force: true })
  throw new Error(
    `the store in ${dataDir} went away under a running server, and is not back: mount its file system, or move it back. To begin with an empty store, remove ${mark}`,
  )
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}

/** Says in a data directory that its store is in Redis now. */
const movedName = 'moved-to-redis'
const movedText = `thingwire migrate has moved this store into Redis. Redis would miss the writes of a server on this directory.
To start a server on this directory anyway, remove this file.
`

/** From now on no server starts on the data directory. Idempotent. */
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
