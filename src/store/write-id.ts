import { createHash } from 'node:crypto'

/**
 * How many write ids of a thing are remembered, and for how long in milliseconds, that moment included (contract §4, resend
 * (c)); commit.lua too. A repeat does not renew an id.
 */
export const rememberedIds = 1_000
export const rememberedFor = 24 * 60 * 60 * 1000

/** 16 bytes. Ids are the client's words, and some use a secret as one: what is kept cannot be turned back into it. */
export function digestOfWriteId(id: string): Buffer {
  return createHash('sha256').update(id).digest().subarray(0, 16)
}
