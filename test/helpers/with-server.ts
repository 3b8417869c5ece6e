import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, type ServerSetup, startServer } from './server-process.ts'

/** Runs the task with a directory that is removed afterwards. */
export async function withDirectory<Result>(task: (path: string) => Promise<Result>): Promise<Result> {
  const path = await mkdtemp(join(tmpdir(), 'thingwire-'))
  try {
    return await task(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Runs the task on a server that is stopped, and whose data are removed, afterwards. */
export function withServer<Result>(
  setup: Omit<ServerSetup, 'dataDir'>,
  task: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  return withDirectory(async dataDir => {
    const server = await startServer({ ...setup, dataDir })
    try {
      return await task(server)
    } finally {
      await server.stop()
    }
  })
}
