import { expect, test } from 'vitest'
import { fuzz } from './fuzz.ts'

/** The short form of `npm run fuzz`, which also holds memory and waiting times against their bounds. */

test('both doors refuse all that is hostile, and go on serving who is not', async () => {
  const { rounds, served, findings } = await fuzz({ seconds: 4, seed: 5, rounds: 1, warmUp: 1 })
  expect(findings).toEqual([])
  for (const { inputs } of rounds) expect(Math.min(...Object.values(inputs))).toBeGreaterThan(0)
  expect(Math.min(served.http, served.mqtt)).toBeGreaterThan(0)
})
