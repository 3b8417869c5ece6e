import { mkdir } from 'node:fs/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { Ledger } from './ledger.ts'
import type { LoadSetup } from './load.ts'

export interface DiskFaultSetup {
  /** Empty or missing. */
  readonly dataDir: string
  /** Writes that are posted while the disk is watched or disturbed. */
  readonly writes: number
  /** Options of the server's command line. */
  readonly args?: readonly string[]
}

/** A server under test with two things, and what a load on it needs. */
export interface Served {
  readonly server: ServerProcess
  readonly processId: number
  readonly things: readonly Thing[]
  readonly ledger: Ledger
  readonly load: Omit<LoadSetup, 'run'>
}

/** Runs the task on a server that is stopped afterwards. */
export async function withServer<T>(
  { dataDir, args = [] }: Omit<DiskFaultSetup, 'writes'>,
  task: (served: Served) => Promise<T>,
): Promise<T> {
  await mkdir(dataDir, { recursive: true })
  const server = await startServer({ dataDir, args })
  try {
    const things = [await createThing(server), await createThing(server)]
    const ledger = new Ledger()
    const load = { url: server.url, things, ledger, connections: 8, sizes: 'mostly small' } as const
    return await task({ server, processId: Number(server.process.pid), things, ledger, load })
  } finally {
    await server.stop()
  }
}
