import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '../../src/server/index.ts'
import type { ServerAddress } from '../helpers/http-client.ts'

/** The ready server on a disk, with every door on a socket. */
export interface Service extends ServerAddress {
  /** `mqtt://<host>:<port>` */
  readonly mqttUrl: string
  /** `ws://<host>:<port>/mqtt` */
  readonly webSocketUrl: string
  close(): Promise<void>
}

export async function startService(): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-doors-'))
  const server = await createServer({ dataDir, httpPort: 0, mqttPort: 0, minFreeSpace: 0, logLevel: 'error' })
  return {
    url: server.url,
    mqttUrl: server.mqttUrl,
    webSocketUrl: server.webSocketUrl,
    adminKey: server.adminKey.key,
    close: async () => {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
