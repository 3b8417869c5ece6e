import { hash } from 'node:crypto'

/** Limits of resends that every store shares (contract §4). */

/** Up to how many records of one datetime are compared one by one (resend (a)); of more, each is indexed. */
export const comparedOneByOne = 256

/** How many write ids of a thing are remembered, and for how many milliseconds, inclusive (resend (c)). A repeat does not renew an id. */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/** The first 16 bytes of the SHA-256. Write ids are stored as digests, since some clients use a secret as one. */
export function digestOf(text: string): Buffer {
  // One call that returns a string takes a third of the time of a Hash object.
  return Buffer.from(hash('sha256', text, 'binary').slice(0, 16), 'latin1')
}
