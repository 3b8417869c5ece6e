/** Milliseconds of the units of time that are always equally long; a day is one of UTC. */
export const milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
