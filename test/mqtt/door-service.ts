import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { expect, onTestFinished } from 'vitest'
import type { SessionAccess } from '../../src/access/access.ts'
import type { LimitOptions } from '../../src/access/limits/limits.ts'
import { createToken } from '../../src/core/token.ts'
import type { TopicGrant } from '../../src/core/topics/topic-grant.ts'
import { openHttpDoor } from '../../src/server/http/http-door.ts'
import { createLogger } from '../../src/server/log/log.ts'
import { openMqttServer } from '../../src/server/mqtt-server.ts'
import { completeOptions } from '../../src/server/options/load-options.ts'
import type { ServerOptions } from '../../src/server/options/options.ts'
import { certificateFiles } from '../../src/server/tls/certificate.ts'
import { ServedCertificate } from '../../src/server/tls/served-certificate.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openThings, type ThingsParts } from '../../src/things.ts'
import { type ServerAddress, type Thing, write } from '../helpers/http-client.ts'
import type { ConnectOptions, MqttAddress, MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

export interface MqttService extends ServerAddress {
  readonly mqttUrl: string
  readonly webSocketUrl: string
}

export interface DoorServiceOptions {
  /** Default: a new one. */
  readonly dataDir?: string
  readonly adminKey?: string
  readonly willGrace?: number
  /** Milliseconds. */
  readonly drainTimeout?: number
  /** Milliseconds. */
  readonly storeTimeout?: number
  readonly limits?: Partial<LimitOptions>
  /** Filters of the topics beside those of things. Default: none. */
  readonly topics?: readonly string[]
  /** Of the doors. */
  readonly server?: Partial<ServerOptions>
  /** Default: the embedded one, in `dataDir`. */
  readonly store?: StoreDriver
  /** Default: none. */
  readonly log?: FastifyBaseLogger
  /** Changes the store before it is opened. */
  readonly alter?: (store: StoreDriver) => void
  /** Who closes it, where no test is running. Default: the end of the test. */
  readonly onEnd?: (close: () => Promise<void>) => void
}

/** The doors of the ready server in this process; closed at the end of the test. */
export class DoorService implements MqttService {
  static async start(options: DoorServiceOptions = {}): Promise<DoorService> {
    const { onEnd = onTestFinished, adminKey = createToken() } = options
    const { dataDir = await temporaryDirectory(onEnd) } = options
    const { willGrace = 30_000, drainTimeout = 5_000, topics = [] } = options
    const { store = createLevelStore({ location: join(dataDir, 'store') }) } = options
    options.alter?.(store)
    const limits = { failedCredentialsPerMinute: 1_000_000, ...options.limits }
    const { storeTimeout } = options
    const things = await openThings(
      { store, adminKey, limits, ...(storeTimeout !== undefined && { storeTimeout }) },
      { topics },
    )
    const serverOptions = completeOptions({
      ...{ httpPort: 0, mqttPort: 0, dataDir, willGrace, drainTimeout },
      ...(topics.length > 0 && { topics: [...topics] }),
      ...options.server,
    })
    const { log = createLogger('silent') } = options
    const stopping = new AbortController()
    const files = certificateFiles(serverOptions)
    const certificate = files && (await ServedCertificate.open(files, log))
    const mqtt = await openMqttServer(things, serverOptions, log, stopping.signal, certificate)
    const http = await openHttpDoor(things, mqtt, serverOptions, log, stopping.signal, certificate)
    const { url } = http
    const urls = { url, mqttUrl: mqtt.url, webSocketUrl: `${url.replace('http', 'ws')}/mqtt` }
    const secureUrls = { secureUrl: http.secureUrl ?? '', mqttsUrl: mqtt.secureUrl ?? '' }
    const close = async () => {
      stopping.abort()
      certificate?.close()
      await Promise.all([mqtt.close(), http.close()])
      await things.close()
    }
    let closing: Promise<void> | undefined
    const stop = () => {
      closing ??= close()
      return closing
    }
    onEnd(stop)
    return new DoorService({ ...urls, ...secureUrls, adminKey, dataDir, things, stopping, stop })
  }

  readonly url!: string
  readonly mqttUrl!: string
  readonly webSocketUrl!: string
  /** Of HTTPS and MQTTS; empty without a certificate. */
  readonly secureUrl!: string
  readonly mqttsUrl!: string
  readonly dataDir!: string
  readonly adminKey!: string
  readonly things!: ThingsParts
  readonly stopping!: AbortController
  /** Stops it in the orderly way. Idempotent. */
  readonly stop!: () => Promise<void>

  private constructor(parts: Partial<DoorService>) {
    Object.assign(this, parts)
  }

  /** From now on as while it stops, but for that it does not. */
  drain(): void {
    this.stopping.abort()
  }

  /** Stops it in the orderly way, and starts another one on the same data. */
  async restart(options: DoorServiceOptions = {}): Promise<DoorService> {
    const { dataDir, adminKey } = this
    await this.stop()
    return await DoorService.start({ dataDir, adminKey, ...options })
  }

  createThing(): Promise<Thing> {
    return this.things.registry.create({})
  }

  /** A connection that ends with the test. Anonymous, if nothing else is said. */
  async connect(options: ConnectOptions & Partial<MqttAddress> = {}): Promise<MqttClient> {
    return await mqttOfTest({ url: this.mqttUrl, ...options })
  }

  /** A connection with the thing's token as password. */
  connectThing(
    { thingToken }: Thing,
    options: ConnectOptions & Partial<MqttAddress> = {},
  ): Promise<MqttClient> {
    return this.connect({ username: 'device', password: thingToken, ...options })
  }

  /** A connection with a new session as password. @param things all, or only these */
  async connectSession(
    things: '*' | readonly Thing[],
    access: SessionAccess,
    options: ConnectOptions = {},
  ): Promise<MqttClient> {
    const ids = things === '*' ? things : things.map(({ thingId }) => thingId)
    const { sessionToken } = await this.things.sessions.create(ids, { access })
    return await this.connect({ username: 'dashboard', password: sessionToken, ...options })
  }

  /** A connection with a new session that may use these topics as password. */
  async connectTopics(
    topics: readonly TopicGrant[],
    options: ConnectOptions & Partial<MqttAddress> = {},
  ): Promise<MqttClient> {
    const { sessionToken } = await this.things.sessions.create([], { access: 'read', topics })
    return await this.connect({ username: 'house', password: sessionToken, ...options })
  }

  /** Has a write of this thing refused, and so told on its errors topic. */
  async refuse(thing: Thing): Promise<void> {
    expect((await write(this, thing, { values: [] })).status).toBe(400)
  }

  /** All values of a resource, oldest first. */
  async values({ thingId }: Thing, key: string): Promise<unknown[]> {
    const page = await this.things.records.read(thingId, key, { order: 'asc', limit: 10_000 })
    return page?.records.map(({ value }) => JSON.parse(value)) ?? []
  }

  /** Resolves when so many writes of the thing have been committed since the call. */
  committed({ thingId }: Thing, count = 1): Promise<void> {
    return new Promise(resolve => {
      let seen = 0
      const stop = this.things.records.onCommit(commit => {
        if (commit.thingId !== thingId || ++seen < count) return
        stop()
        resolve()
      })
    })
  }

  /** Names of the documents that begin so. */
  async documents(prefix: string): Promise<string[]> {
    return (await this.things.documents.list(prefix, { limit: 10_000 })).map(([name]) => name)
  }
}

/** What is read until it is as expected, with a deadline for a busy machine. */
export function eventually<Found>(read: () => Promise<Found>) {
  return expect.poll(read)
}

/** The topics of the messages that a client has received, in order. */
export function topicsReceived({ received }: Pick<MqttClient, 'received'>): string[] {
  return received.flatMap(packet => (packet.cmd === 'publish' ? [packet.topic] : []))
}

/** A write body of one record without a datetime: written twice, it is stored twice. */
export function reading(value: unknown, key = 'n') {
  return { values: [{ key, value }] }
}

export function writeTopicOf(ref: string): string {
  return `things/${ref}/write`
}
