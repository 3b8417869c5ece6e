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
import { counter, gauge, histogram, type Metrics, register, type Sample } from './samples.ts'

export interface MetricSources {
  readonly things: ThingsParts
  readonly observations: Observations
  readonly options: ServerOptions
  readonly version: string
}

/** Creates every metric of docs/reference/metrics.md. No label contains a thing id or a credential. */
export function createRegistry(sources: MetricSources): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  register(registry, {
    ...metricsOfWrites(sources),
    ...metricsOfDoors(sources),
    ...metricsOfLive(sources),
    ...metricsOfStore(sources),
    ...metricsOfForwarding(sources),
    ...metricsOfService(sources),
  })
  return registry
}

function metricsOfWrites({ observations }: MetricSources): Metrics {
  const counts = (of: 'writes' | 'records') => () => {
    return Object.entries(observations.writes).flatMap(([door, outcomes]) => {
      return Object.entries(outcomes).map(([outcome, count]): Sample => [{ door, outcome }, count[of]])
    })
  }
  return {
    thingwire_writes_total: counter('Acknowledged writes.', counts('writes')),
    thingwire_records_total: counter('Records of acknowledged writes.', counts('records')),
    thingwire_records_stored_total: counter(
      'Records that this process has added to the store.',
      () => observations.storedRecords,
    ),
    thingwire_write_refusals_total: counter('Refused writes, including those that can be sent again.', () => {
      return Object.entries(observations.writeRefusals).flatMap(([door, reasons]) => {
        return [...reasons].map(([reason, times]): Sample => [{ door, reason }, times])
      })
    }),
    thingwire_ack_duration_seconds: histogram(
      'Time from the receipt of a write to its 201, PUBACK or PUBREC.',
      Object.values(observations.acks),
    ),
  }
}

function metricsOfDoors({ things, observations }: MetricSources): Metrics {
  const sessions = new Counted(things.documents, sessionPrefix)
  return {
    thingwire_http_errors_total: counter('Requests answered with an error.', () =>
      [...observations.httpErrors].map(([reason, times]) => [{ reason }, times]),
    ),
    thingwire_mqtt_connects_total: counter(
      'Answered CONNECTs by the return code of CONNACK in MQTT 3.1.1, whatever the version; 0 is accepted.',
      () => [...observations.connects].map(([code, times]) => [{ return_code: code }, times]),
    ),
    thingwire_mqtt_broken_off_total: counter(
      'MQTT connections that ended with an error and without DISCONNECT.',
      () => [...observations.brokenOff].map(([reason, times]) => [{ reason }, times]),
    ),
    thingwire_connections: gauge(
      'Open MQTT connections over TCP and WebSocket, and live streams over HTTP.',
      () => [
        [{ kind: 'mqtt' }, observations.connections.mqtt],
        [{ kind: 'websocket' }, observations.connections.websocket],
        [{ kind: 'stream' }, things.limits.streams.total],
      ],
    ),
    thingwire_mqtt_sessions: gauge('Persistent MQTT sessions, connected or not.', () => sessions.read()),
    thingwire_mqtt_messages_relayed_total: counter(
      'Messages that clients published on topics other than those of things.',
      () => observations.relayedMessages,
    ),
    thingwire_mqtt_messages_dropped_total: counter(
      'Messages that clients never get: too many for a session that is away, or too large for a client of MQTT 5.',
      () => observations.droppedMessages,
    ),
  }
}

function metricsOfLive({ things, observations }: MetricSources): Metrics {
  const { live, magic } = things
  return {
    thingwire_fan_out_lag_seconds: histogram(
      'Time from a commit until the socket of a subscriber has its live messages.',
      [observations.fanOut],
    ),
    thingwire_live_waiting_bytes: gauge(
      'Size of the commits that wait for delivery to subscribers.',
      () => live.waiting,
    ),
    thingwire_subscriptions: gauge(
      'Subscriptions of MQTT connections and streams: one for each thing, and one for all things.',
      () => live.subscriptions,
    ),
    thingwire_magic_queue_writes: gauge(
      'Writes of magic resources that this node has yet to apply.',
      () => magic.queue.length,
    ),
    thingwire_magic_lag_seconds: gauge(
      'Age of the oldest write of a magic resource that this node has yet to apply.',
      () => ageOf(magic.queue.oldest),
    ),
  }
}

function metricsOfStore({ things, observations, options }: MetricSources): Metrics {
  const figures = storeFigures(things, options)
  return {
    thingwire_commit_writes: histogram('Writes and document changes in one commit of the store.', [
      observations.commitChanges,
    ]),
    thingwire_commit_duration_seconds: histogram('Time for one commit of the store.', [
      observations.commitSeconds,
    ]),
    thingwire_store_ready: gauge('1 while the store works.', () => (things.isReady() ? 1 : 0)),
    thingwire_store_bytes: gauge(
      'Size of the store, on the disk or in the memory of Redis.',
      async () => (await figures()).bytes,
    ),
    thingwire_store_limit_bytes: gauge(
      'Size limit of the store (maxmemory of Redis), if there is one.',
      async () => (await figures()).limit,
    ),
    thingwire_store_free_bytes: gauge(
      'Free space on the disk of the embedded store.',
      async () => (await figures()).free,
    ),
    thingwire_clock_behind_seconds: gauge(
      'By how much the clock is behind the newest receipt time.',
      () => things.clock.behind() / 1_000,
    ),
    thingwire_clock_stepped_back: gauge(
      '1 if receipt times went back since the start, because a clock far behind them was believed.',
      () => (things.clock.steppedBack ? 1 : 0),
    ),
    thingwire_retention_records_removed_total: counter(
      'Records that retention has removed.',
      () => things.retention.removed,
    ),
    thingwire_retention_last_run_timestamp_seconds: gauge(
      'Time of the last run of retention on this node.',
      () => inSeconds(things.retention.lastRun),
    ),
  }
}

/** These metrics have no samples on a server that does not forward. */
function metricsOfForwarding({ things: { forward } }: MetricSources): Metrics {
  return {
    thingwire_forward_records_total: counter(
      'Records that the central server has acknowledged.',
      () => forward?.sent.records,
    ),
    thingwire_forward_bytes_total: counter(
      'Bytes of the writes with these records.',
      () => forward?.sent.bytes,
    ),
    thingwire_forward_waiting_records: gauge(
      'Records that the central server has not acknowledged yet.',
      () => forward?.waiting.records,
    ),
    thingwire_forward_waiting_bytes: gauge(
      'About how many bytes these records take in the log.',
      () => forward?.waiting.bytes,
    ),
    thingwire_forward_lag_seconds: gauge(
      'Age of the oldest record that the central server has not acknowledged yet.',
      () => forward && ageOf(forward.oldest),
    ),
    thingwire_forward_connections: gauge(
      'Open connections to the central server: one for each thing that has sent something.',
      () => forward?.connections,
    ),
    thingwire_forward_held_things: gauge(
      'Things that the central server does not accept, whose records wait.',
      () => forward?.heldCount,
    ),
    thingwire_forward_refused_records_total: counter(
      'Records that the central server has refused for good, since forwarding began.',
      () => forward?.refusedCount,
    ),
    thingwire_forward_dropped_records_total: counter(
      'Records that were given up because more than forwardLogLimit waited, since forwarding began.',
      () => forward?.dropped,
    ),
  }
}

function metricsOfService({ things, options, version }: MetricSources): Metrics {
  const count = new Counted(things.documents, thingPrefix)
  const store = options.redisUrl === undefined ? 'level' : 'redis'
  return {
    thingwire_things: gauge('Registered things.', () => count.read()),
    thingwire_limits_met_total: counter(
      'How often each limit refused, dropped, closed or delayed something.',
      () => [...things.limits.met].map(([limit, times]) => [{ limit }, times]),
    ),
    thingwire_build_info: gauge('Always 1; the labels give version and store.', () => [
      [{ version, store }, 1],
    ]),
  }
}

/** @param at milliseconds since the epoch */
function ageOf(at: number | undefined): number {
  return at === undefined ? 0 : Math.max(0, (Date.now() - at) / 1_000)
}

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000
}

/** Milliseconds for which sizes are cached. Reading the sizes of all files takes a while. */
const maximumAge = 10_000

/** Sizes in bytes; `free` is the free space on the disk of the embedded store. An unknown size is absent. */
interface Figures {
  readonly bytes?: number
  readonly limit?: number | undefined
  readonly free?: number
}

/** @returns a function that reads the sizes, at most every 10 s, and never rejects */
function storeFigures(
  things: Pick<ThingsParts, 'storeSize'>,
  { redisUrl, dataDir }: ServerOptions,
): () => Promise<Figures> {
  let newest: Promise<Figures> | undefined
  let readAt = 0
  const read = async (): Promise<Figures> => {
    const [size, disk] = await Promise.all([
      things.storeSize().catch(() => ({})),
      redisUrl === undefined ? statfs(dataDir).catch(() => undefined) : undefined,
    ])
    return { ...size, ...(disk && { free: disk.bavail * disk.bsize }) }
  }
  return () => {
    const now = performance.now()
    if (!newest || now - readAt > maximumAge) {
      readAt = now
      newest = read()
    }
    return newest
  }
}

/** Minimum milliseconds from the end of a count to the beginning of the next count. */
const shortestInterval = 60_000
/** A long count is followed by a pause this many times as long. */
const restFactor = 100
/** Milliseconds for which `read` waits for a count that is under way. */
const patience = 500

/**
 * Counts the documents with a prefix. The store has to list them all, so a count is made only for a `read`, at most once a
 * minute, and less often if counting takes long.
 */
export class Counted {
  readonly #documents: Pick<DocumentStore, 'list'>
  readonly #prefix: string
  #count: number | undefined
  #counting: Promise<void> | undefined
  /** Value of `performance.now()` at which the next count may begin. */
  #dueAt = 0

  constructor(documents: Pick<DocumentStore, 'list'>, prefix: string) {
    this.#documents = documents
    this.#prefix = prefix
  }

  /** The newest count; undefined during the first count and while the store is unavailable. Never rejects. */
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
