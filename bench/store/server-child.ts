import { readFileSync } from 'node:fs'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'

/** The server as users run it, in a process of its own, so that its memory is its own. */
export async function startServerChild(dataDir: string): Promise<ServerProcess> {
  return await startServer({ dataDir, environment: noRateLimits })
}

/** Resident memory of the server now, bytes; Linux only. */
export function residentMemory(server: ServerProcess): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024
}
