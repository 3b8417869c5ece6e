import { hash } from 'node:crypto'

/** What every store has to know of resends (contract §4). */

/** Records of one datetime that are compared one by one (resend (a)); beyond, each leaves something by which it is found again. */
export const comparedOneByOne = 256

/**
 * How many write ids of a thing are remembered, and for how long in milliseconds, that moment included (resend (c)). A repeat does
 * not renew an id.
 */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/**
 * The first 16 bytes of the SHA-256. Write ids are kept as theirs: they are the client's words, and some use a secret as one, which
 * cannot be had back from it.
 */
export function digestOf(text: string): Buffer {
  // In one call, and as a string: a third of the time of a Hash object.
  return Buffer.from(hash('sha256', text, 'binary').slice(0, 16), 'latin1')
}
