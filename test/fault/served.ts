import { mkdir } from 'node:fs/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { Device } from './device.ts'
import { Ledger } from './ledger.ts'
import type { LoadSetup } from './load.ts'

export interface DiskFaultSetup {
  /** Empty or missing. */
  readonly dataDir: string
  /** Writes of each way that are sent while the disk is watched or disturbed. */
  readonly writes: number
  /** Options of the server's command line. */
  readonly args?: readonly string[]
}

/** A server under test with two things, and what a load on it needs. */
export interface Served {
  readonly server: ServerProcess
  readonly processId: number
  readonly things: readonly Thing[]
  readonly devices: readonly Device[]
  readonly ledger: Ledger
  readonly load: Omit<LoadSetup, 'run'>
}

const connections = 8
const deviceCount = 6

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
    const devices = createDevices(things, deviceCount, ledger)
    const { url, mqttUrl } = server
    const load = { url, mqttUrl, things, devices, ledger, connections, sizes: 'mostly small' } as const
    return await task({ server, processId: Number(server.process.pid), things, devices, ledger, load })
  } finally {
    await server.stop()
  }
}

/** Every third device of a thing has a clean session. */
export function createDevices(things: readonly Thing[], count: number, ledger: Ledger): Device[] {
  const devices = things.flatMap((thing, place) =>
    Array.from({ length: Math.ceil(count / things.length) }, (_, number) => {
      const clientId = `device-${place}-${number}`
      return new Device({ clientId, thing, place, isPersistent: number % 3 !== 2, ledger })
    }),
  )
  return devices.slice(0, count)
}

/** Brings every handshake to an end, and leaves. */
export async function resumeAll(devices: readonly Device[], { mqttUrl }: ServerProcess): Promise<void> {
  await Promise.all(devices.map(device => device.resume(mqttUrl)))
  await Promise.all(devices.map(device => device.destroy()))
}
