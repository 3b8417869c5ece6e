import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { type AdminKey, loadAdminKey } from '../access/admin-key.ts'
import { createLevelStore } from '../store/level/index.ts'
import { createThings, type Things } from '../things.ts'
import { type HttpDoor, openHttpDoor } from './http-door.ts'
import { urlOf } from './listening.ts'
import { completeOptions } from './load-options.ts'
import { createLogger } from './log.ts'
import { type MqttDoor, openMqttDoor } from './mqtt-door.ts'
import type { ServerOptions } from './options.ts'
import { webSocketPath } from './websocket.ts'

export interface Server {
  /** Where the HTTP door listens. */
  readonly address: AddressInfo
  /** The same as a URL, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Where the MQTT door listens, such as `mqtt://127.0.0.1:1883`. */
  readonly mqttUrl: string
  /** MQTT over WebSocket, such as `ws://127.0.0.1:8080/mqtt`. */
  readonly webSocketUrl: string
  readonly adminKey: AdminKey
  /** Stops listening, finishes what is in flight, flushes the store. Idempotent. */
  close(): Promise<void>
}

export interface ServerParts {
  /** Default: a log of its own at `logLevel`. */
  readonly log?: Logger
}

/** Where the store is in a data directory. */
export function storeLocation(dataDir: string): string {
  return join(resolve(dataDir), 'store')
}

/**
 * Starts the ready server: embedded store, core, broker, HTTP and MQTT door.
 *
 * @param given options that differ from the defaults
 * @throws Error with one line for the operator: a bad option, a port in use, a data directory that cannot be used or
 * that another process holds
 */
export async function createServer(
  given: Partial<ServerOptions> = {},
  parts: ServerParts = {},
): Promise<Server> {
  const options = completeOptions(given)
  const log = parts.log ?? createLogger(options.logLevel)
  await makeDataDir(options.dataDir)
  const adminKey = await loadAdminKey({
    ...(options.adminKey !== undefined && { configured: options.adminKey }),
    file: join(resolve(options.dataDir), 'admin-key'),
  })
  const things = await openThings(options, adminKey.key, log)
  const stopping = new AbortController()
  const { http, mqtt } = await openDoors(things, options, log, stopping.signal).catch(
    async (error: unknown) => {
      await things.close()
      throw error
    },
  )
  const close = async () => {
    stopping.abort()
    await Promise.all([mqtt.close(), http.close()]).finally(() => things.close())
  }
  let closing: Promise<void> | undefined
  return {
    address: http.address,
    url: http.url,
    mqttUrl: mqtt.url,
    webSocketUrl: urlOf('ws', http.address) + webSocketPath,
    adminKey,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** MQTT first: `/readyz` must not answer before its broker listens. */
async function openDoors(
  things: Things,
  options: ServerOptions,
  log: Logger,
  stopping: AbortSignal,
): Promise<{ mqtt: MqttDoor; http: HttpDoor }> {
  const mqtt = await openMqttDoor(things, options, log, stopping)
  const http = await openHttpDoor(things, mqtt, options, log, stopping).catch(async (error: unknown) => {
    await mqtt.close()
    throw error
  })
  return { mqtt, http }
}

function openThings(options: ServerOptions, adminKey: string, log: Logger): Promise<Things> {
  const { dataDir, durability, minFreeSpace, allowThingDelete, storeTimeout } = options
  return createThings({
    store: createLevelStore({ location: storeLocation(dataDir), durability, minFreeSpace }),
    adminKey,
    allowThingDelete,
    storeTimeout,
    onDefect: error => log.error({ err: error }, 'defect in a magic resource'),
  })
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new Error(`cannot make the data directory ${dataDir}: ${(cause as Error).message}`, { cause })
  }
}
