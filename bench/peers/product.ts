import { rm } from 'node:fs/promises'
import { built } from '../../test/helpers/built.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { copyStore, type FilledStore } from './filled-store.ts'
import type { Peer } from './peer.ts'
import { endWithUs } from './program.ts'

export interface Product extends Peer {
  readonly server: ServerProcess
  readonly httpPort: number
  readonly processId: number
  /** From the start of the process until it has said that it is ready. */
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

/** What tests switch off: as it is unless said otherwise (docs/reference/options.md). */
const defaults = { THINGWIRE_MIN_FREE_SPACE: '1073741824' }

/** The product as `npm start` runs it, its rate limits on but set above the load, on a copy of the filled store. */
export async function startProduct(setup: ProductSetup): Promise<Product> {
  const dataDir = await copyStore(setup.filled, setup.directory)
  const product = await startProductOn(dataDir, setup)
  return {
    ...product,
    stop: async () => {
      await product.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}

/** The same on a data directory that is the filled store's copy already; it stays. */
export async function startProductOn(dataDir: string, setup: ProductSetup): Promise<Product> {
  const { filled, environment: own, command } = setup
  const environment = { ...defaults, ...noRateLimits, THINGWIRE_ADMIN_KEY: filled.adminKey, ...own }
  await built()
  const begin = performance.now()
  const server = await startServer({ dataDir, environment, command })
  const secondsToReady = (performance.now() - begin) / 1_000
  endWithUs(server.process)
  const processId = server.process.pid ?? 0
  return {
    server,
    port: Number(new URL(server.mqttUrl).port),
    httpPort: Number(new URL(server.url).port),
    processId,
    secondsToReady,
    recordsStored: async () => {
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^thingwire_records_stored_total (\d+)/m.exec(metrics)?.[1])
    },
    processes: { product: processId },
    stop: async () => {
      await server.stop()
    },
  }
}
