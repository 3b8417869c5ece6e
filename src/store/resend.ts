import { createHash } from 'node:crypto'

/** What every store has to know of resends (contract §4). */

/** Records of one datetime that are compared one by one (resend (a)); beyond, each leaves something by which it is found again. */
export const comparedOneByOne = 256

/**
 * How many write ids of a thing are remembered, and for how long in milliseconds, that moment included (resend (c)). A repeat does
 * not renew an id.
 */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/** 16 bytes. Ids are the client's words, and some use a secret as one: what is kept cannot be turned back into it. */
export function digestOfWriteId(id: string): Buffer {
  return createHash('sha256').update(id).digest().subarray(0, 16)
}
