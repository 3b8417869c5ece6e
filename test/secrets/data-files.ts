import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Redis } from 'ioredis'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import type { RedisServer } from '../helpers/redis-server.ts'
import type { Evidence } from './evidence.ts'

/** Takes down every file of a data directory but the one of the admin key, of which the mode is returned. */
export async function addDataFiles(evidence: Evidence, dataDir: string): Promise<number> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(dataDir, path)
    evidence.add('files', 'the name of a file', name)
    if (!entry.isFile() || name === 'admin-key') continue
    const kind = /\.\d+$|\d+\./.test(entry.name) ? 'a data file' : `the file ${name}`
    evidence.add('files', kind, await readFile(path))
  }
  return (await stat(join(dataDir, 'admin-key'))).mode & 0o777
}

/** Takes down what a Redis has on disk, which is every command that has changed something, and what nodes tell one another by it. */
export async function addRedis(
  evidence: Evidence,
  { directory, url }: RedisServer,
): Promise<() => Promise<void>> {
  // As in examples/redis-host: a ready check could lose the subscription.
  const listening = new Redis(url, { enableReadyCheck: false })
  listening.on('pmessageBuffer', (_pattern: Buffer, _channel: Buffer, message: Buffer) =>
    evidence.add('files', 'a message between nodes', message),
  )
  await listening.psubscribe('*')
  return async () => {
    listening.disconnect()
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (entry.isFile())
        evidence.add('files', 'a file of Redis', await readFile(join(entry.parentPath, entry.name)))
    }
  }
}

/** Takes down every key and value of the store of a server that has ended: its files may be compressed. */
export async function addStore(evidence: Evidence, dataDir: string): Promise<void> {
  const store = createLevelStore({ location: storeLocation(dataDir) })
  await store.open()
  try {
    const parts: Uint8Array[] = []
    for await (const part of store.backup()) parts.push(part)
    evidence.add('files', 'the store', Buffer.concat(parts))
  } finally {
    await store.close()
  }
}
