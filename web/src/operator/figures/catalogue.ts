import { formatBytes, formatCount, formatRate, formatSeconds } from './format.ts'
import { quantile, rate } from './increase.ts'
import type { Metrics } from './metrics.ts'

/** The samples from which a line is computed. */
interface Window {
  readonly now: Metrics
  /** The previous sample; undefined for the first sample. */
  readonly before: Metrics | undefined
  /** The oldest sample of the last minute. */
  readonly minuteBefore: Metrics | undefined
}

/** One number, which is also drawn over time. */
interface Line {
  readonly label: string
  /** Undefined if there is no value to show. */
  measure(window: Window): number | undefined
}

export interface Figure {
  readonly title: string
  readonly format: (value: number) => string
  readonly lines: readonly Line[]
}

/** The metrics of docs/reference/metrics.md that an operator looks at first. */
export const figures: readonly Figure[] = [
  { title: 'Writes', format: formatRate, lines: rateByDoor('thingwire_writes_total') },
  { title: 'Readings', format: formatRate, lines: rateByDoor('thingwire_records_total') },
  {
    title: 'Time to acknowledge, last minute',
    format: formatSeconds,
    lines: [
      ackLine('HTTP p50', 'http', 0.5),
      ackLine('HTTP p99', 'http', 0.99),
      ackLine('MQTT p50', 'mqtt', 0.5),
      ackLine('MQTT p99', 'mqtt', 0.99),
    ],
  },
  {
    title: 'Connections',
    format: formatCount,
    lines: [
      gauge('MQTT', 'thingwire_connections', 'mqtt'),
      gauge('WebSocket', 'thingwire_connections', 'websocket'),
      gauge('HTTP streams', 'thingwire_connections', 'stream'),
    ],
  },
  {
    title: 'Lag',
    format: formatSeconds,
    lines: [
      {
        label: 'Live messages p99',
        measure: ({ now, minuteBefore }) =>
          quantile(0.99, now, minuteBefore, 'thingwire_fan_out_lag_seconds'),
      },
      gauge('Magic resources', 'thingwire_magic_lag_seconds'),
    ],
  },
  {
    title: 'Store',
    format: formatBytes,
    lines: [
      gauge('Size', 'thingwire_store_bytes'),
      gauge('Free disk', 'thingwire_store_free_bytes'),
      gauge('Limit', 'thingwire_store_limit_bytes'),
    ],
  },
  { title: 'Things', format: formatCount, lines: [gauge('Registered', 'thingwire_things')] },
]

function rateByDoor(name: string): readonly Line[] {
  return [
    { label: 'HTTP', measure: ({ now, before }) => rate(now, before, name, { door: 'http' }) },
    { label: 'MQTT', measure: ({ now, before }) => rate(now, before, name, { door: 'mqtt' }) },
  ]
}

function ackLine(label: string, door: string, share: number): Line {
  return {
    label,
    measure: ({ now, minuteBefore }) =>
      quantile(share, now, minuteBefore, 'thingwire_ack_duration_seconds', { door }),
  }
}

function gauge(label: string, name: string, kind?: string): Line {
  return { label, measure: ({ now }) => now.sum(name, kind === undefined ? {} : { kind }) }
}
