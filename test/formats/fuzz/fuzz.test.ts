import { expect, it } from 'vitest'
import { fuzzFormat, subjects } from './fuzz.ts'
import { packetsOf } from './mutate-packet.ts'

/** The short form of `npm run fuzz:formats`. */

it.each([...subjects.keys()])('%s reads what is hostile, or says why not, and in time', name => {
  expect(fuzzFormat(name, { count: 3_000, seed: 1 }).findings).toEqual([])
})

it.each([...subjects])('%s reads 50,000 objects inside one another', (_, { samples, begin }) => {
  const payload = Buffer.from(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
  for (const sample of samples) {
    for (const packet of packetsOf(sample)) {
      const subject = begin(sample)
      subject.learn(subject.read({ ...packet, payload }))
    }
  }
})
