const units = {
  ms: { length: 1, name: 'ms' },
  s: { length: 1_000, name: 's' },
  m: { length: 60_000, name: 'min' },
  h: { length: 3_600_000, name: 'h' },
  d: { length: 86_400_000, name: 'd' },
} as const

/** The length of the interval that a point of a chart summarises. */
export interface Interval {
  /** Text for users, for example `15 min`. The unit `m` would mean metres. */
  readonly text: string
  /** Milliseconds. Intervals begin at multiples of the length since 1970 in UTC. */
  readonly length: number
}

/** @param text in the server's form, such as `15m` @throws Error if the text is not an interval of constant length */
export function parseInterval(text: string | undefined): Interval {
  const [, count, unit] = /^(\d+)(ms|[smhd])$/.exec(text ?? '') ?? []
  const { length, name } = units[unit as keyof typeof units] ?? {}
  if (length === undefined || !(Number(count) > 0)) throw new Error(`no length of an interval: ${text}`)
  return { text: `${count} ${name}`, length: Number(count) * length }
}
