import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { SessionAccess } from './principal.ts'

/**
 * The documents in which access is kept. A token is in none of them: its SHA-256 stands in its place.
 *
 * A token document is only made or removed together with its entry in the thing document, by a `transact` that
 * reads the thing document; whoever holds that one needs no look at the other.
 */

/** `things/<thing id>` */
export type ThingDocument = {
  readonly name: string
  /** Milliseconds, as all times here. */
  readonly createdAt: number
  /** The live tokens, oldest first. */
  readonly tokens: readonly TokenEntry[]
  /** Sessions that were minted for this thing alone; some of them may be over. */
  readonly sessions?: readonly AccessSessionEntry[]
  /** Topics beside those of things that it may use. */
  readonly topics?: readonly TopicGrant[]
}

export type TokenEntry = { readonly tokenId: string; readonly hash: string }

export type AccessSessionEntry = {
  readonly sessionId: string
  /** SHA-256 of its token. */
  readonly hash: string
  readonly expiresAt: number
  /** SHA-256 of the thing token that minted it, and with which it dies. */
  readonly mintedBy?: string
}

/** `sessions/<session id>` */
export type AccessSessionDocument = {
  readonly hash: string
  readonly things: '*' | readonly string[]
  readonly access: SessionAccess
  readonly topics?: readonly TopicGrant[]
  readonly createdAt: number
  readonly expiresAt: number
  /** The thing in whose document there is an entry for it. */
  readonly thingId?: string
  /** Whether a thing token minted it. */
  readonly isThings?: true
}

/** `tokens/<SHA-256 of the token>` of a session. */
export type AccessSessionTokenDocument = { readonly sessionId: string }

/** `tokens/<SHA-256 of the token>` of a thing. */
export type TokenDocument = {
  readonly thingId: string
  readonly tokenId: string
  readonly createdAt: number
  readonly used: boolean
  /** While it is unused: the code that gave it, and that answers again if this token was its last. */
  readonly activationCode?: string
}

/**
 * `activation-codes/<code>`: in clear, since the operator lists codes to print and hand them out, which a hash
 * would not allow. A code is worth no more than new, empty things, and its document ends with the first use of the
 * last token it gave.
 */
export type ActivationCodeDocument = {
  readonly createdAt: number
  readonly usesLeft: number
  /** The thing it activated last, and its token, while that is unused: the code answers for it again. */
  readonly last?: { readonly thingId: string; readonly hash: string }
}

/** The code when it no longer answers again: null, which removes it, if nothing is left of it. */
export function withoutLast({ last: _, ...code }: ActivationCodeDocument): ActivationCodeDocument | null {
  return code.usesLeft === 0 ? null : code
}

/** `seen/<thing id>` */
export type SeenDocument = {
  /** When its own token was last used; absent if never. */
  readonly at?: number
  /** When a write of it was last stored, by whomever; absent if none was since this is noted. */
  readonly written?: number
}

/** `removals/<thing id>`: there while the data of a removed thing may still be in the store. */
export type RemovedThingDocument = { readonly startedAt: number }

export const thingPrefix = 'things/'
export const tokenPrefix = 'tokens/'
export const activationCodePrefix = 'activation-codes/'
export const removedThingPrefix = 'removals/'
export const accessSessionPrefix = 'sessions/'

export const thingName = (thingId: string): string => `${thingPrefix}${thingId}`
export const tokenName = (hash: string): string => `${tokenPrefix}${hash}`
export const activationCodeName = (code: string): string => `${activationCodePrefix}${code}`
export const accessSessionName = (sessionId: string): string => `${accessSessionPrefix}${sessionId}`
export const seenName = (thingId: string): string => `seen/${thingId}`
export const removedThingName = (thingId: string): string => `${removedThingPrefix}${thingId}`
