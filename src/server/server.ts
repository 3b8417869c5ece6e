import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type AdminKey, keepAdminKey } from '../access/admin-key.ts'
import { isLoopback } from '../access/limits/address-key.ts'
import { formatDatetime } from '../core/record/datetime.ts'
import type { ClockStep } from '../core/time/clock.ts'
import type { ForwardOptions } from '../forward/forwarder.ts'
import { parseRetentionRule } from '../retention/rules.ts'
import { openThings, type ThingsParts } from '../things.ts'
import { Descriptors } from './connections/descriptors.ts'
import { type HttpDoor, openHttpDoor } from './http/http-door.ts'
import { webSocketPath } from './http/mqtt-web-sockets.ts'
import { chooseStore, type Keeping, storeLocation } from './keeping/choose-store.ts'
import { forwardingOf } from './keeping/forwarding.ts'
import { markLost } from './keeping/marks.ts'
import { createLogger } from './log/log.ts'
import { Observations } from './metrics/observations.ts'
import { type MqttServer, openMqttServer } from './mqtt-server.ts'
import { completeOptions, ofDataDir } from './options/load-options.ts'
import type { ServerOptions } from './options/options.ts'
import { certificateFiles } from './tls/certificate.ts'
import { ServedCertificate } from './tls/served-certificate.ts'
import { warnOfUnservedTopics } from './unserved-topics.ts'

export interface Server {
  /** Address of the plain HTTP listener. */
  readonly address: AddressInfo
  /** URL of the plain HTTP listener, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** URL of the plain MQTT listener, such as `mqtt://127.0.0.1:1883`. */
  readonly mqttUrl: string
  /** URL of MQTT over WebSocket, such as `ws://127.0.0.1:8080/mqtt`. */
  readonly webSocketUrl: string
  /** URL of HTTPS, such as `https://127.0.0.1:8443`; undefined without `tlsCert`. */
  readonly httpsUrl: string | undefined
  /** URL of MQTT over TLS, such as `mqtts://127.0.0.1:8883`; undefined without `tlsCert`. */
  readonly mqttsUrl: string | undefined
  /** URL of MQTT over WebSocket with TLS, such as `wss://127.0.0.1:8443/mqtt`; undefined without `tlsCert`. */
  readonly secureWebSocketUrl: string | undefined
  /** URL of the listener for requests with bare LF; undefined without `lenientPort`. */
  readonly lenientUrl: string | undefined
  readonly adminKey: AdminKey
  /** Stops listening, finishes requests and writes in flight, and flushes the store. Idempotent. */
  close(): Promise<void>
}

export interface ServerParts {
  /** Default: a new logger at `logLevel`. */
  readonly log?: Logger
  /** Called once if the data directory disappears. The server then acknowledges no more writes, and should be closed. */
  readonly onStoreLost?: (error: Error) => void
}

/** For this share of `shutdownTimeout`, `/readyz` answers 503 before the doors close, so that load balancers choose other nodes. */
const leavingShare = 0.25

/**
 * Starts the ready server: the store, the core, the broker, and the HTTP and MQTT doors.
 *
 * @param given options that differ from the defaults
 * @throws TypeError if an option is wrong or unknown
 * @throws Error with one line for the operator: a port in use, a certificate that cannot be served, a
 * data directory that cannot be used or that another process uses, a Redis that cannot be reached or trusted
 */
export async function createServer(
  given: Partial<ServerOptions> = {},
  parts: ServerParts = {},
): Promise<Server> {
  const options = completeOptions(given)
  const log = parts.log ?? createLogger(options.logLevel, { adminKey: options.adminKey })
  const files = certificateFiles(options)
  const certificate = files && (await ServedCertificate.open(files, log))
  try {
    return await startServer(options, certificate, log, parts.onStoreLost)
  } catch (error) {
    certificate?.close()
    throw error
  }
}

async function startServer(
  options: ServerOptions,
  certificate: ServedCertificate | undefined,
  log: Logger,
  onStoreLost: ServerParts['onStoreLost'],
): Promise<Server> {
  const observations = new Observations()
  const forward = await forwardingOf(options, log)
  const keeping = await chooseStore(options, log, observations, error => {
    void logStoreLost(options.dataDir, log, error).then(() => onStoreLost?.(error))
  }).catch(ofDataDir(options))
  const things = await openService(options, keeping, log, observations, forward).catch(ofDataDir(options))
  things.clock.onSteppedBack(step => warnOfStep(step, log))
  const stopping = new AbortController()
  const { http, mqtt } = await openDoors(
    things,
    options,
    log,
    stopping.signal,
    observations,
    certificate,
  ).catch(async (error: unknown) => {
    await things.close()
    throw error
  })
  const close = async () => {
    http.leave()
    if (keeping.store.capabilities.shared) await delay(options.shutdownTimeout * leavingShare)
    stopping.abort()
    certificate?.close()
    // The doors close at the same time, so that neither accepts new connections while the other closes. Each takes at most half of
    // `shutdownTimeout`, so that one stalled client does not cause exit status 1.
    await Promise.all([mqtt.close(), http.close()]).finally(() => things.close())
  }
  await keepAdminKey(keeping.adminKey).catch(async (error: unknown) => {
    await close()
    throw error
  })
  warnOfClearText(http, mqtt, log)
  if (things.hasLeftForwarding) {
    log.warn(
      'forward is not set, although this server has forwarded before: new writes will not be forwarded. Writes already waiting are kept until forward is set again',
    )
  }
  // If the store fails here, `thingwire doctor` can still report the unknown things.
  await warnOfUnknownThings(things, log).catch(() => {})
  void warnOfUnservedTopics(things, log)
  if (keeping.isNew()) log.info(`no store found in ${options.dataDir}: created a new one`)
  let closing: Promise<void> | undefined
  return {
    address: http.address,
    url: http.url,
    mqttUrl: mqtt.url,
    webSocketUrl: webSocketUrl(http.url),
    httpsUrl: http.secureUrl,
    mqttsUrl: mqtt.secureUrl,
    secureWebSocketUrl: http.secureUrl && webSocketUrl(http.secureUrl),
    lenientUrl: http.lenientUrl,
    adminKey: keeping.adminKey,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** Opens MQTT first, because `/readyz` must not answer before MQTT listens. */
async function openDoors(
  things: ThingsParts,
  options: ServerOptions,
  log: Logger,
  stopping: AbortSignal,
  observations: Observations,
  certificate: ServedCertificate | undefined,
): Promise<{ mqtt: MqttServer; http: HttpDoor }> {
  const parts = { observations, descriptors: new Descriptors(log) }
  const mqtt = await openMqttServer(things, options, log, stopping, certificate, parts)
  const opening = openHttpDoor(things, mqtt, options, log, stopping, certificate, parts)
  const http = await opening.catch(async (error: unknown) => {
    await mqtt.close()
    throw error
  })
  return { mqtt, http }
}

/** Warns of unknown ids in the thing map, for example ids of the central server. @throws ThingwireError if the store fails */
async function warnOfUnknownThings({ forward, registry }: ThingsParts, log: Logger): Promise<void> {
  if (!forward) return
  const thingIds = await registry.missing(forward.named)
  if (thingIds.length === 0) return
  log.warn(
    { thingIds },
    'the thing map contains ids of no thing on this server; thingwire things list shows the existing ones',
  )
}

/** Never rejects. */
async function logStoreLost(dataDir: string, log: Logger, error: Error): Promise<void> {
  log.fatal(
    `${error.message}. No more writes are acknowledged. Bring the data directory back (remount or move it) and restart the server, or restore a backup`,
  )
  const isMarked = await markLost(dataDir, storeLocation(dataDir), error)
  if (isMarked)
    log.fatal(`no server will start in ${dataDir} until the store is back or its file store-lost is removed`)
}

function webSocketUrl(httpUrl: string): string {
  return httpUrl.replace(/^http/, 'ws') + webSocketPath
}

function warnOfStep({ from, to }: ClockStep, log: Logger): void {
  const times = { newestReceipt: formatDatetime(from), clock: formatDatetime(to) }
  log.warn(
    times,
    'receipt times go back: the clock has been far behind the newest receipt time for 10 minutes and is now believed. Records with receipt times in between stay until they are removed; thingwire doctor lists them',
  )
}

/** Warns even if TLS is served: a client may still send its token to the plain listener. */
function warnOfClearText(http: HttpDoor, mqtt: MqttServer, log: Logger): void {
  const listeners = [http, mqtt].filter(door => !isLoopback(door.address.address)).map(door => door.url)
  if (listeners.length === 0) return
  log.warn(
    { listeners },
    mqtt.secureUrl === undefined
      ? 'credentials cross the network in clear text: set tlsCert and tlsKey, or use a proxy with TLS and set host to 127.0.0.1'
      : 'credentials may cross the network in clear text: set host to 127.0.0.1, and tlsHost to the address for TLS',
  )
}

function openService(
  options: ServerOptions,
  { store, adminKey }: Keeping,
  log: Logger,
  observer: Observations,
  forward: ForwardOptions | undefined,
): Promise<ThingsParts> {
  const { allowThingDelete, storeTimeout, topics = [], retention = [] } = options
  return openThings(
    {
      store,
      adminKey: adminKey.key,
      allowThingDelete,
      storeTimeout,
      observer,
      limits: options,
      retention: retention.flatMap(rule => parseRetentionRule(rule) ?? []),
      onDefect: error => log.error({ err: error }, 'defect in a magic resource'),
    },
    { topics, forward },
  )
}
