const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** How much time a point of a chart stands for. */
export interface Interval {
  /** As the server writes it, such as `90s`; also what people read. */
  readonly text: string
  /** Milliseconds. Intervals begin at its multiples since 1970 in UTC. */
  readonly length: number
}

/** @throws Error if it is none of even length */
export function parseInterval(text: string | undefined): Interval {
  const [, count, unit = ''] = /^(\d+)([a-z]+)$/.exec(text ?? '') ?? []
  const length = Number(count) * (milliseconds[unit] ?? Number.NaN)
  if (text === undefined || !(length > 0)) throw new Error(`no length of an interval: ${text}`)
  return { text, length }
}
