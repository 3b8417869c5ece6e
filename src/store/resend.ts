import { hash } from 'node:crypto'

/** Limits for the detection of resends, the same in every store (contract §4). */

/** Maximum number of records of one datetime that are compared one by one to find a resend. Further records are indexed. */
export const comparedOneByOne = 256

/** How many write ids are remembered per thing, and for how long (milliseconds, inclusive). A repeat does not extend the time. */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/** The first 16 bytes of the text's SHA-256. Write ids are stored as digests, since some clients use a secret as a write id. */
export function digestOf(text: string): Buffer {
  // `hash` with a string as its result takes a third of the time that a Hash object takes.
  return Buffer.from(hash('sha256', text, 'binary').slice(0, 16), 'latin1')
}
