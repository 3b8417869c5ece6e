import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Says in a data directory that its store is in Redis now. */
const markName = 'moved-to-redis'
const text = `thingwire migrate has moved this store into Redis. Redis would miss the writes of a server on this directory.
To start a server on this directory anyway, remove this file.
`

/** From now on no server starts on the data directory. Idempotent. */
export async function markMoved(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, markName), text)
}

/** @throws Error with one line for the operator: the store was moved into Redis */
export async function assertNotMoved(dataDir: string): Promise<void> {
  const mark = join(dataDir, markName)
  if (!existsSync(mark)) return
  throw new Error(
    `the store in ${dataDir} was moved into Redis: set THINGWIRE_REDIS_URL. To start on the old store anyway, without the writes since then, remove ${mark}`,
  )
}
