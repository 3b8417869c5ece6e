import { expect, it } from 'vitest'
import { fuzzFormat, subjects } from './fuzz.ts'

/** The short form of `npm run fuzz:formats`. */

it.each([...subjects.keys()])('%s reads what is hostile, or says why not, and in time', name => {
  expect(fuzzFormat(name, { count: 3_000, seed: 1 }).findings).toEqual([])
})
