const units = {
  ms: { length: 1, name: 'ms' },
  s: { length: 1_000, name: 's' },
  m: { length: 60_000, name: 'min' },
  h: { length: 3_600_000, name: 'h' },
  d: { length: 86_400_000, name: 'd' },
} as const

/** How much time a point of a chart stands for. */
export interface Interval {
  /** For people, such as `15 min`: `m` alone is the metre. */
  readonly text: string
  /** Milliseconds. Intervals begin at its multiples since 1970 in UTC. */
  readonly length: number
}

/** @param text as the server writes it, such as `15m` @throws Error if it is none of even length */
export function parseInterval(text: string | undefined): Interval {
  const [, count, unit] = /^(\d+)(ms|[smhd])$/.exec(text ?? '') ?? []
  const { length, name } = units[unit as keyof typeof units] ?? {}
  if (length === undefined || !(Number(count) > 0)) throw new Error(`no length of an interval: ${text}`)
  return { text: `${count} ${name}`, length: Number(count) * length }
}
