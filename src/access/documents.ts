import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { SessionAccess } from './principal.ts'

/**
 * The documents of access. None contains a token, only its SHA-256.
 *
 * A token document is made and removed together with its entry in the thing document, by a `transact` that reads the thing
 * document. So a `transact` that reads the thing document need not read its token documents.
 */

/** `things/<thing id>` */
export type ThingDocument = {
  readonly name: string
  /** Milliseconds, as all times here. */
  readonly createdAt: number
  /** The live tokens, oldest first. */
  readonly tokens: readonly TokenEntry[]
  /** Sessions that were minted for this thing only; some may have ended. */
  readonly sessions?: readonly AccessSessionEntry[]
  /** Grants of other topics. */
  readonly topics?: readonly TopicGrant[]
}

export type TokenEntry = { readonly tokenId: string; readonly hash: string }

export type AccessSessionEntry = {
  readonly sessionId: string
  /** SHA-256 of its token. */
  readonly hash: string
  readonly expiresAt: number
  /** SHA-256 of the thing token that minted the session, which ends with the token. */
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
  /** The thing whose document has an entry for the session. */
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
  /** While the token is unused: the code that gave it, and answers again if this token was its last. */
  readonly activationCode?: string
}

/**
 * `activation-codes/<code>`: in plain text, since the operator lists codes to print and distribute them. A code only gives new,
 * empty things, and its document is removed at the first use of the last token that it gave.
 */
export type ActivationCodeDocument = {
  readonly createdAt: number
  readonly usesLeft: number
  /** The thing that it activated last, with its token, while that is unused: the code answers for this thing again. */
  readonly last?: { readonly thingId: string; readonly hash: string }
}

/** The code without `last`; null, which removes it, if it has no uses left. */
export function withoutLast({ last: _, ...code }: ActivationCodeDocument): ActivationCodeDocument | null {
  return code.usesLeft === 0 ? null : code
}

/** `seen/<thing id>` */
export type SeenDocument = {
  /** When the thing's own token was last used; absent: never. */
  readonly at?: number
  /** When a write of the thing, with any credential, was last stored; absent: none was noted. */
  readonly written?: number
}

/** `removals/<thing id>`: present while the store may still have data of a removed thing. */
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
