import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings } from '../../src/things.ts'
import { built } from '../../test/helpers/built.ts'
import type { Thing } from '../../test/helpers/http-client.ts'
import {
  noRateLimits,
  type ServerProcess,
  type ServerSetup,
  startServer,
} from '../../test/helpers/server-process.ts'
import { fill } from './fill.ts'
import { endWithUs, idOf, type Peer } from './peer.ts'

/** A data directory of the product, made once, of which each start gets a copy. */
export interface FilledStore {
  readonly dataDir: string
  readonly adminKey: string
  /** The first `thingsWithRecords` share the records. */
  readonly things: readonly Thing[]
  readonly records: number
}

const things = 100
const thingsWithRecords = 10

/** @param parent where the data directory is made @param records a multiple of 1,000, or 0 */
export async function fillStore(
  parent: string,
  records: number,
  onProgress: (records: number) => void = () => {},
): Promise<FilledStore> {
  const dataDir = await mkdtemp(join(parent, 'filled-'))
  const location = join(dataDir, 'store')
  const adminKey = randomBytes(32).toString('hex')
  const service = await openThings({ store: createLevelStore({ location }), adminKey })
  const made: Thing[] = []
  for (let place = 0; place < things; place++) made.push(await service.registry.create({}))
  await service.close()
  const share = records / thingsWithRecords
  const filledThings = records === 0 ? [] : made.slice(0, thingsWithRecords)
  for (const [place, { thingId }] of filledThings.entries()) {
    await fill({ location, thingId, records: share })
    onProgress((place + 1) * share)
  }
  return { dataDir, adminKey, things: made, records }
}

/** A copy to be written to, on the disk before it is used: what is written back later is no copy's doing. */
export async function copyStore({ dataDir }: FilledStore, parent: string): Promise<string> {
  const copy = await mkdtemp(join(parent, 'product-'))
  await cp(dataDir, copy, { recursive: true })
  await promisify(execFile)('sync', ['-f', copy])
  return copy
}

/** A server that ends with this process. */
export async function startOwnServer(setup: ServerSetup): Promise<ServerProcess> {
  const server = await startServer(setup)
  endWithUs(server.process)
  return server
}

/** The figures of a server now, by the name of a metric. */
export async function metricsOf({ url }: ServerProcess): Promise<(name: string) => number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return name => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1])
}

export interface Product extends Peer {
  readonly server: ServerProcess
  readonly httpPort: number
  readonly processId: number
  /** From the start of the process until its ready line. */
  readonly secondsToReady: number
  /** New in the store since the start. */
  recordsStored(): Promise<number>
}

export interface ProductSetup {
  readonly filled: FilledStore
  /** Where its data directory is made. */
  readonly directory: string
  /** Variables on top of its own. */
  readonly environment?: NodeJS.ProcessEnv
  /** As in `CliSetup`. */
  readonly command?: string
}

/** The product as `npm start` runs it, its rate limits on but set above the load, on a copy of the filled store. */
export async function startProduct(setup: ProductSetup): Promise<Product> {
  return await startProductOn(await copyStore(setup.filled, setup.directory), setup, true)
}

/** The same on a data directory that is the filled store's copy already. @param goes whether the directory goes with it */
export async function startProductOn(
  dataDir: string,
  { filled, environment: own, command }: Omit<ProductSetup, 'directory'>,
  goes = false,
): Promise<Product> {
  // Tests switch off the least free space; here it is as by default (docs/reference/options.md).
  const defaults = { THINGWIRE_MIN_FREE_SPACE: '1073741824', ...noRateLimits }
  const environment = { ...defaults, THINGWIRE_ADMIN_KEY: filled.adminKey, ...own }
  await built()
  const begin = performance.now()
  const server = await startOwnServer({ dataDir, environment, command })
  const secondsToReady = (performance.now() - begin) / 1_000
  const processId = idOf(server)
  return {
    server,
    port: Number(new URL(server.mqttUrl).port),
    httpPort: Number(new URL(server.url).port),
    processId,
    secondsToReady,
    recordsStored: async () => (await metricsOf(server))('thingwire_records_stored_total'),
    processes: { product: processId },
    stop: async () => {
      await server.stop()
      if (goes) await rm(dataDir, { recursive: true })
    },
  }
}
