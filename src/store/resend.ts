import { hash } from 'node:crypto'

/** Limits for the detection of resends, the same in every store (contract §4). */

/** How many records of one datetime are compared one by one (resend (a)); each further record of the datetime is indexed. */
export const comparedOneByOne = 256

/** Number of write ids remembered per thing, and for how long: milliseconds, inclusive (resend (c)). A repeat renews no id. */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/** The first 16 bytes of the SHA-256. Write ids are stored as digests, since some clients use a secret as a write id. */
export function digestOf(text: string): Buffer {
  // One call that returns a string takes a third of the time of a Hash object.
  return Buffer.from(hash('sha256', text, 'binary').slice(0, 16), 'latin1')
}
