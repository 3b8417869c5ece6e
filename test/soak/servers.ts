import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNodes } from '../helpers/cluster.ts'
import { type ServerProcess, type ServerSetup, startServer } from '../helpers/server-process.ts'

export interface Servers {
  readonly nodes: readonly ServerProcess[]
  /** SIGKILL to those that are left; what they have stored is removed. */
  end(): Promise<void>
}

/**
 * Starts so many nodes on a Redis of their own, or, for 0, one server with its embedded store.
 *
 * @param setup of that one
 */
export async function startServers(nodes: number, setup: ServerSetup = {}): Promise<Servers> {
  if (nodes > 0) return await startNodes(nodes)
  const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-soak-'))
  const server = await startServer({ ...setup, dataDir })
  const end = async () => {
    await server.kill()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { nodes: [server], end }
}
