import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { SessionAccess, SourceTerms } from './principal.ts'

/**
 * The documents of things, credentials and sessions. They contain no tokens, only the SHA-256 of tokens.
 *
 * The document of a thing token is created and removed together with its entry in the thing document, by a `transact` that reads
 * the thing document. Therefore a `transact` that reads the thing document knows which token documents of the thing exist.
 */

/** Document of a thing: `things/<thing id>`. */
export type ThingDocument = {
  readonly name: string
  /** Milliseconds since the epoch, like all times in this file. */
  readonly createdAt: number
  /** The live tokens, oldest first. */
  readonly tokens: readonly TokenEntry[]
  /** Sessions for this thing alone, minted with `createForThing`. Some may have ended. */
  readonly sessions?: readonly AccessSessionEntry[]
  /** Grants for topics that belong to no thing. */
  readonly topics?: readonly TopicGrant[]
  /** The device of a source that this thing stands for. `SourceDeviceDocument` names the thing. */
  readonly source?: DeviceOfSource
}

export type DeviceOfSource = {
  readonly sourceId: string
  readonly device: string
  /** Set if the device has announced that it is gone. */
  readonly isGone?: true
}

export type TokenEntry = { readonly tokenId: string; readonly hash: string }

export type AccessSessionEntry = {
  readonly sessionId: string
  /** SHA-256 of the session token. */
  readonly hash: string
  readonly expiresAt: number
  /** SHA-256 of the thing token that minted the session. The session ends with that token. */
  readonly mintedBy?: string
}

/** Document of a session: `sessions/<session id>`. */
export type AccessSessionDocument = {
  readonly hash: string
  readonly things: '*' | readonly string[]
  readonly access: SessionAccess
  readonly topics?: readonly TopicGrant[]
  readonly createdAt: number
  readonly expiresAt: number
  /** Set if `createForThing` minted the session: the id of the thing, whose document has an entry for the session. */
  readonly thingId?: string
  /** Set if a thing token minted the session. */
  readonly isThings?: true
}

/** Document of a session token: `tokens/<SHA-256 of the token>`. */
export type AccessSessionTokenDocument = { readonly sessionId: string }

/** Document of a source: `sources/<source id>`. */
export type SourceDocument = SourceTerms & {
  readonly name: string
  readonly hash: string
  readonly createdAt: number
}

/** Document of the token of a source: `tokens/<SHA-256 of the token>`. */
export type SourceTokenDocument = { readonly sourceId: string }

/** Document of a device of a source: `source-devices/<source id>/<device>`. */
export type SourceDeviceDocument = {
  readonly thingId: string
  /** Set if the device is known by the name in its topic only, so that a later discovery may give it another identifier. */
  readonly isByName?: true
}

/**
 * Document of the name in the topics of a device that got its thing by an identifier: `source-names/<source id>/<name>`. A node that has not
 * learned the identifier yet finds the thing by it, so that the device does not get a second one.
 */
export type SourceNameDocument = {
  readonly thingId: string
  /** The node that has learned the identifier. Of the others each has heard so by `until`, milliseconds since the epoch. */
  readonly node: string
  readonly until: number
}

/** Document of a thing token: `tokens/<SHA-256 of the token>`. */
export type TokenDocument = {
  readonly thingId: string
  readonly tokenId: string
  readonly createdAt: number
  readonly used: boolean
  /** The activation code that issued the token; only while the token is unused. */
  readonly activationCode?: string
}

/**
 * Document `activation-codes/<code>`. The code is in plain text, since the operator lists codes to print and distribute them; it
 * gives access only to new, empty things. The document is removed when no uses are left and the newest token has been used.
 */
export type ActivationCodeDocument = {
  readonly createdAt: number
  readonly usesLeft: number
  /** The last activated thing and its token's hash, while that token is unused. The next activation returns this thing again. */
  readonly last?: { readonly thingId: string; readonly hash: string }
}

/** The document of the code without `last`; null if the code has no uses left, which removes the document. */
export function withoutLast({ last: _, ...code }: ActivationCodeDocument): ActivationCodeDocument | null {
  return code.usesLeft === 0 ? null : code
}

/** Document of the times at which a thing was seen: `seen/<thing id>`. */
export type SeenDocument = {
  /** When the thing was last seen, as in `ThingSummary.lastSeen`; absent if never. */
  readonly at?: number
  /** When a write to the thing, with any credential, was last stored; absent if no write is known. */
  readonly written?: number
}

/** Document `removals/<id of a thing or source>`. Exists while the store may still have data of the removed thing or source. */
export type RemovedThingDocument = { readonly startedAt: number }

export const thingPrefix = 'things/'
export const tokenPrefix = 'tokens/'
export const activationCodePrefix = 'activation-codes/'
export const removedThingPrefix = 'removals/'
export const accessSessionPrefix = 'sessions/'
export const sourcePrefix = 'sources/'
export const sourceDevicePrefix = 'source-devices/'

export const thingName = (thingId: string): string => `${thingPrefix}${thingId}`
export const tokenName = (hash: string): string => `${tokenPrefix}${hash}`
export const activationCodeName = (code: string): string => `${activationCodePrefix}${code}`
export const accessSessionName = (sessionId: string): string => `${accessSessionPrefix}${sessionId}`
export const sourceName = (sourceId: string): string => `${sourcePrefix}${sourceId}`
export const sourceDevicesOf = (sourceId: string): string => `${sourceDevicePrefix}${sourceId}/`
// The device is encoded, since document names must not hold every character; a lone surrogate cannot be encoded.
export const sourceDeviceName = (sourceId: string, device: string): string =>
  sourceDevicesOf(sourceId) + inName(device)
const inName = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
export const sourceNamesOf = (sourceId: string): string => `source-names/${sourceId}/`
export const nameInTopics = (sourceId: string, name: string): string => sourceNamesOf(sourceId) + inName(name)
export const sourceFactsOf = (sourceId: string): string => `source-facts/${sourceId}/`
export const seenName = (thingId: string): string => `seen/${thingId}`
export const removedThingName = (thingId: string): string => `${removedThingPrefix}${thingId}`
