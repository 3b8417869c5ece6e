import { statfs } from 'node:fs/promises'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { thingPrefix } from '../../access/documents.ts'
import { rest } from '../../core/async/retry-until.ts'
import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { sessionPrefix } from '../../mqtt/relay/documents.ts'
import type { ThingsParts } from '../../things.ts'
import type { ServerOptions } from '../options/options.ts'
import type { Observations } from './observations.ts'
import { histogram, type Sample, sampled } from './samples.ts'

export interface MetricSources {
  readonly things: ThingsParts
  readonly observations: Observations
  readonly options: ServerOptions
  readonly version: string
}

/** Every metric of docs/reference/metrics.md. Nothing in them names a thing or a credential. */
export function createRegistry(sources: MetricSources): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  addWrites(registry, sources)
  addDoors(registry, sources)
  addLive(registry, sources)
  addStore(registry, sources)
  addForward(registry, sources)
  addService(registry, sources)
  return registry
}

function addWrites(registry: Registry, { observations }: MetricSources): void {
  const counts = (of: 'writes' | 'records') => () => {
    return Object.entries(observations.writes).flatMap(([door, outcomes]) => {
      return Object.entries(outcomes).map(([outcome, count]): Sample => [{ door, outcome }, count[of]])
    })
  }
  sampled(registry, 'counter', {
    name: 'thingwire_writes_total',
    help: 'Acknowledged writes.',
    read: counts('writes'),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_records_total',
    help: 'Records of acknowledged writes.',
    read: counts('records'),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_records_stored_total',
    help: 'Records that this process has added to the store.',
    read: () => observations.storedRecords,
  })
  sampled(registry, 'counter', {
    name: 'thingwire_write_refusals_total',
    help: 'Refused writes, also those that can be sent again.',
    read: () => {
      return Object.entries(observations.writeRefusals).flatMap(([door, reasons]) => {
        return [...reasons].map(([reason, times]): Sample => [{ door, reason }, times])
      })
    },
  })
  histogram(registry, {
    name: 'thingwire_ack_duration_seconds',
    help: 'Time from the receipt of a write to its 201, PUBACK or PUBREC.',
    series: Object.values(observations.acks),
  })
}

function addDoors(registry: Registry, { things, observations }: MetricSources): void {
  sampled(registry, 'counter', {
    name: 'thingwire_http_errors_total',
    help: 'Requests with an error as answer.',
    read: () => [...observations.httpErrors].map(([reason, times]) => [{ reason }, times]),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_mqtt_connects_total',
    help: 'Answered CONNECTs by the return code of CONNACK; 0 is accepted.',
    read: () => [...observations.connects].map(([code, times]) => [{ return_code: code }, times]),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_mqtt_broken_off_total',
    help: 'MQTT connections that ended with an error and without DISCONNECT.',
    read: () => [...observations.brokenOff].map(([reason, times]) => [{ reason }, times]),
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_connections',
    help: 'Open MQTT connections over TCP and WebSocket, and live streams over HTTP.',
    read: () => [
      [{ kind: 'mqtt' }, observations.connections.mqtt],
      [{ kind: 'websocket' }, observations.connections.websocket],
      [{ kind: 'stream' }, things.limits.streams.total],
    ],
  })
  const sessions = new Counted(things.documents, sessionPrefix)
  sampled(registry, 'gauge', {
    name: 'thingwire_mqtt_sessions',
    help: 'Persistent MQTT sessions, connected or not.',
    read: () => sessions.read(),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_mqtt_messages_relayed_total',
    help: 'Messages that clients published on topics beside those of things.',
    read: () => observations.relayedMessages,
  })
  sampled(registry, 'counter', {
    name: 'thingwire_mqtt_messages_dropped_total',
    help: 'Messages that persistent sessions missed and never get, because there were too many.',
    read: () => observations.droppedMessages,
  })
}

function addLive(registry: Registry, { things, observations }: MetricSources): void {
  const { live, magic } = things
  histogram(registry, {
    name: 'thingwire_fan_out_lag_seconds',
    help: 'Time from a commit until the socket of a subscriber has its live messages.',
    series: [observations.fanOut],
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_live_waiting_bytes',
    help: 'Size of the commits that wait for delivery to subscribers.',
    read: () => live.waiting,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_subscriptions',
    help: 'Subscriptions of MQTT connections and streams: one for each thing, and one for all things.',
    read: () => live.subscriptions,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_magic_queue_writes',
    help: 'Writes of magic resources that this node has yet to apply.',
    read: () => magic.queue.length,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_magic_lag_seconds',
    help: 'Age of the oldest write of a magic resource that this node has yet to apply.',
    read: () => ageOf(magic.queue.oldest),
  })
}

function addStore(registry: Registry, { things, observations, options }: MetricSources): void {
  const figures = new StoreFigures(things, options)
  histogram(registry, {
    name: 'thingwire_commit_writes',
    help: 'Writes and document changes in one commit of the store.',
    series: [observations.commitChanges],
  })
  histogram(registry, {
    name: 'thingwire_commit_duration_seconds',
    help: 'Time for one commit of the store.',
    series: [observations.commitSeconds],
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_store_ready',
    help: '1 while the store works.',
    read: () => (things.isReady() ? 1 : 0),
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_store_bytes',
    help: 'Size of the store, on the disk or in the memory of Redis.',
    read: async () => (await figures.read()).bytes,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_store_limit_bytes',
    help: 'Size limit of the store (maxmemory of Redis), if there is one.',
    read: async () => (await figures.read()).limit,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_store_free_bytes',
    help: 'Free space on the disk of the embedded store.',
    read: async () => (await figures.read()).free,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_clock_behind_seconds',
    help: 'By how much the clock is behind the newest receipt time.',
    read: () => things.clock.behind() / 1_000,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_clock_stepped_back',
    help: '1 if receipt times went back since the start, since a clock far behind them was believed.',
    read: () => (things.clock.steppedBack ? 1 : 0),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_retention_records_removed_total',
    help: 'Records that retention has removed.',
    read: () => things.retention.removed,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_retention_last_run_timestamp_seconds',
    help: 'Time of the last run of retention on this node.',
    read: () => inSeconds(things.retention.lastRun),
  })
}

/** Of a server that forwards. */
function addForward(registry: Registry, { things: { forward } }: MetricSources): void {
  sampled(registry, 'counter', {
    name: 'thingwire_forward_records_total',
    help: 'Records that the central server has acknowledged.',
    read: () => forward?.sent.records,
  })
  sampled(registry, 'counter', {
    name: 'thingwire_forward_bytes_total',
    help: 'Bytes of the writes with these records.',
    read: () => forward?.sent.bytes,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_forward_waiting_records',
    help: 'Records that the central server has not acknowledged yet.',
    read: () => forward?.waiting.records,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_forward_waiting_bytes',
    help: 'About how many bytes these records take in the log.',
    read: () => forward?.waiting.bytes,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_forward_lag_seconds',
    help: 'Age of the oldest record that the central server has not acknowledged yet.',
    read: () => forward && ageOf(forward.oldest),
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_forward_connections',
    help: 'Open connections to the central server: one for each thing that has sent something.',
    read: () => forward?.connections,
  })
  sampled(registry, 'gauge', {
    name: 'thingwire_forward_held_things',
    help: 'Things that the central server does not take, whose records wait.',
    read: () => forward?.heldCount,
  })
  sampled(registry, 'counter', {
    name: 'thingwire_forward_refused_records_total',
    help: 'Records that the central server has refused for good, since forwarding began.',
    read: () => forward?.refusedCount,
  })
  sampled(registry, 'counter', {
    name: 'thingwire_forward_dropped_records_total',
    help: 'Records that were given up since more than forwardLogLimit waited, since forwarding began.',
    read: () => forward?.dropped,
  })
}

function addService(registry: Registry, { things, options, version }: MetricSources): void {
  const count = new Counted(things.documents, thingPrefix)
  sampled(registry, 'gauge', {
    name: 'thingwire_things',
    help: 'Registered things.',
    read: () => count.read(),
  })
  sampled(registry, 'counter', {
    name: 'thingwire_limits_met_total',
    help: 'How often each limit refused, dropped, closed or delayed something.',
    read: () => [...things.limits.met].map(([limit, times]) => [{ limit }, times]),
  })
  const store = options.redisUrl === undefined ? 'level' : 'redis'
  sampled(registry, 'gauge', {
    name: 'thingwire_build_info',
    help: 'Always 1; the labels give version and store.',
    read: () => [[{ version, store }, 1]],
  })
}

/** @param at milliseconds since the epoch */
function ageOf(at: number | undefined): number {
  return at === undefined ? 0 : Math.max(0, (Date.now() - at) / 1_000)
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000
}

/** How old figures may be, milliseconds: to look at all files of a store takes a while. */
const maximumAge = 10_000

/** Bytes. */
interface Figures {
  readonly bytes?: number
  readonly limit?: number | undefined
  /** On the disk of the embedded store. */
  readonly free?: number
}

/** What the store takes, and what is left. */
class StoreFigures {
  readonly #things: Pick<ThingsParts, 'storeSize'>
  readonly #dataDir: string | undefined
  #newest: Promise<Figures> | undefined
  #readAt = 0

  constructor(things: Pick<ThingsParts, 'storeSize'>, { redisUrl, dataDir }: ServerOptions) {
    this.#things = things
    this.#dataDir = redisUrl === undefined ? dataDir : undefined
  }

  /** Not older than 10 s. Never rejects: a figure that is unknown is absent. */
  read(): Promise<Figures> {
    const now = performance.now()
    if (!this.#newest || now - this.#readAt > maximumAge) {
      this.#readAt = now
      this.#newest = this.#read()
    }
    return this.#newest
  }

  async #read(): Promise<Figures> {
    const [size, free] = await Promise.all([this.#things.storeSize().catch(() => ({})), this.#free()])
    return { ...size, ...(free !== undefined && { free }) }
  }

  async #free(): Promise<number | undefined> {
    if (this.#dataDir === undefined) return undefined
    return await statfs(this.#dataDir).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    )
  }
}

/** Milliseconds. */
const shortestInterval = 60_000
/** How much longer than a count took it is before the next one. */
const restFactor = 100
/** How long whoever asks waits for a count that is under way, milliseconds. */
const patience = 500

/**
 * How many documents there are of a kind. The store has to list them, so they are counted when someone asks, once a minute
 * at most, and less often where that takes long.
 */
export class Counted {
  readonly #documents: Pick<DocumentStore, 'list'>
  readonly #prefix: string
  #count: number | undefined
  #counting: Promise<void> | undefined
  /** When it may be counted again, by the monotonic clock. */
  #dueAt = 0

  constructor(documents: Pick<DocumentStore, 'list'>, prefix: string) {
    this.#documents = documents
    this.#prefix = prefix
  }

  /** The newest count; undefined while the first is under way, or while the store is away. Never rejects. */
  async read(): Promise<number | undefined> {
    if (performance.now() >= this.#dueAt) {
      this.#counting ??= this.#recount().finally(() => {
        this.#counting = undefined
      })
    }
    const waited = new AbortController()
    await Promise.race([this.#counting, rest(patience, waited.signal)])
    waited.abort()
    return this.#count
  }

  async #recount(): Promise<void> {
    const begin = performance.now()
    this.#count = await this.#countAll().catch(() => undefined)
    const end = performance.now()
    this.#dueAt =
      this.#count === undefined ? end : end + Math.max(shortestInterval, restFactor * (end - begin))
  }

  async #countAll(): Promise<number> {
    let count = 0
    for await (const _ of listDocuments(this.#documents, this.#prefix)) count++
    return count
  }
}
