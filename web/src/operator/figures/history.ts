import { figures } from './catalogue.ts'
import type { Metrics } from './metrics.ts'

/** Milliseconds for which samples are kept and drawn. */
export const historyLength = 10 * 60_000
const aMinute = 60_000

export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Values of the lines of the catalogue, by figure and line. */
  readonly values: readonly (readonly (number | undefined)[])[]
}

/** The last ten minutes. Immutable: with each sample, a new history is created. */
export interface History {
  readonly samples: readonly Metrics[]
  readonly points: readonly Point[]
}

export const noHistory: History = { samples: [], points: [] }

export function withSample({ samples, points }: History, now: Metrics): History {
  const isKept = ({ at }: { readonly at: number }) => now.at - at <= historyLength
  const window = {
    now,
    before: samples.at(-1),
    minuteBefore: samples.find(({ at }) => now.at - at <= aMinute),
  }
  const values = figures.map(({ lines }) => lines.map(line => line.measure(window)))
  return {
    samples: [...samples.filter(isKept), now],
    points: [...points.filter(isKept), { at: now.at, values }],
  }
}

/** How often writes or clients were refused for one reason. */
export interface Refusals {
  readonly reason: string
  /** Number of refusals in the time that the history covers. */
  readonly recently: number
  /** Number of refusals since the node started. */
  readonly inAll: number
}

/** The reasons for which writes were refused, with the most recent refusals first. */
export function refusalsOf(history: History): readonly Refusals[] {
  return mostRecentFirst(countsOf(history, 'thingwire_write_refusals_total', 'reason'))
}

/**
 * The reasons for which clients were refused, with the most recent refusals first. Over MQTT, a device gets no reason, and no thing
 * lists the refusal among its refused writes.
 */
export function rejectedConnectionsOf(history: History): readonly Refusals[] {
  const rows: Refusals[] = []
  for (const refusals of countsOf(history, 'thingwire_mqtt_connects_total', 'return_code')) {
    const text = connackTexts.get(refusals.reason)
    if (text !== undefined) rows.push({ ...refusals, reason: text })
  }
  for (const [door, name] of [
    ['MQTT', 'thingwire_mqtt_broken_off_total'],
    ['HTTP', 'thingwire_http_errors_total'],
  ] as const) {
    for (const refusals of countsOf(history, name, 'reason')) {
      if (credentialReasons.has(refusals.reason))
        rows.push({ ...refusals, reason: `${door} ${refusals.reason}` })
    }
  }
  return mostRecentFirst(rows)
}

/** 0 means accepted, and 3 is not the client's fault. */
const connackTexts: ReadonlyMap<string, string> = new Map([
  ['1', 'MQTT CONNACK 1: not MQTT 3.1, 3.1.1 or 5'],
  ['2', 'MQTT CONNACK 2: bad client id'],
  ['4', 'MQTT CONNACK 4: unknown credential'],
  ['5', 'MQTT CONNACK 5: not allowed'],
])

const credentialReasons: ReadonlySet<string> = new Set([
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'unknown_activation_code',
  'forbidden',
  'too_many_failed_credentials',
])

function countsOf({ samples }: History, name: string, label: string): readonly Refusals[] {
  const now = samples.at(-1)
  const before = samples.find(({ run }) => run === now?.run)?.sumsBy(name, label)
  return [...(now?.sumsBy(name, label) ?? [])].map(([reason, inAll]) => ({
    reason,
    recently: inAll - (before?.get(reason) ?? 0),
    inAll,
  }))
}

function mostRecentFirst(refusals: readonly Refusals[]): readonly Refusals[] {
  return refusals
    .filter(({ inAll }) => inAll > 0)
    .sort((a, b) => b.recently - a.recently || b.inAll - a.inAll || a.reason.localeCompare(b.reason))
}
