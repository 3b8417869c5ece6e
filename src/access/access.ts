/**
 * Who may do what, for both doors (contract §1, §6). Implemented in `authorise.ts`,
 * `things` and `sessions`.
 */

import type { Redactor } from '../core/refusals/redactor.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { Principal, SessionAccess } from './principal.ts'

export type { Principal, SessionAccess, SessionPrincipal } from './principal.ts'

/** What a request wants to do with a thing. */
export type Action = 'write' | 'read' | 'delete' | 'read refused writes' | 'mint a session'

/** Credentials that are dead from now on. */
export interface Revocation {
  /** `hashToken` of each. */
  readonly hashes: ReadonlySet<string>
  /** `principalName` of those who never come back: removed things, ended sessions. */
  readonly principals: ReadonlySet<string>
  /**
   * Any credential may be dead, since this node was cut off from the others: what relies on one is to be closed, and
   * those who come again are asked for it again. Nobody is known to be gone for ever.
   */
  readonly all?: true
}

export interface Access {
  /** Keeps credentials, also the admin key, out of texts of clients. */
  readonly redactor: Redactor
  /**
   * The thing that `<ref>` names, if the request may do `action` with it: a token is its own credential and
   * `credential` is then ignored; an id needs one.
   *
   * @param credential content of the Authorization header less `Bearer `; undefined if there was none
   * @returns the id of the thing: at once where it is its own token that asks and that is in memory, since it is asked for every
   * write; whatever else it is, a refusal too, comes by a promise
   * @throws ThingwireError unknown_thing_token, missing_credential, invalid_session, forbidden, unknown_thing,
   * not_found (`ref` is spelled neither like a token nor like an id)
   */
  authorise(ref: string, credential: string | undefined, action: Action): string | Promise<string>
  /** @throws ThingwireError missing_credential, invalid_session, forbidden */
  authoriseAdmin(credential: string | undefined): Promise<void>
  /** Whom a credential stands for. @throws ThingwireError missing_credential, invalid_session */
  identify(credential: string | undefined): Promise<Principal>
  /**
   * Asks again for a credential that may not be kept: whether the one of this hash still allows `action`.
   *
   * @param credentialHash `hashToken(credential)`, of what `authorise` took before
   * @throws ThingwireError invalid_session, forbidden, unknown_thing
   */
  authoriseAgain(credentialHash: string, thingId: string, action: Action): Promise<void>
  /** The thing whose live token this is. @throws ThingwireError unknown_thing_token */
  thingOfToken(token: string): Promise<string>
  /**
   * Calls `listener` as soon as credentials have expired or this node knows that they are revoked, on whichever node;
   * more than once, perhaps. It must not throw. Returns how to stop.
   */
  onRevoke(listener: (revocation: Revocation) => void): () => void
  /** A thing has published on a topic beside those of things, for which its token was not asked for again. */
  noteSeen(thingId: string): void
  /** Topics beside those of things that a principal may use now, as far as they are served. @throws ThingwireError of the store */
  topicsOf(principal: Principal): Promise<readonly TopicGrant[]>
  /**
   * Those of whom a credential stands for that may not be kept.
   *
   * @param credentialHash `hashToken(credential)`
   * @throws ThingwireError invalid_session
   */
  topicsAgain(credentialHash: string): Promise<readonly TopicGrant[]>
  /**
   * Calls `listener` when the topics of a thing may have changed, on whichever node; it must not throw. Returns how to stop.
   */
  onTopics(listener: (thingId: string) => void): () => void
}

export interface ThingSummary {
  readonly thingId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** When the thing last wrote or was read by its own token, milliseconds; undefined if never. */
  readonly lastSeen: number | undefined
  /** When a write of the thing was last stored, by whomever, milliseconds; undefined if none was noted. */
  readonly lastWrite: number | undefined
  readonly position?: { readonly lat: number; readonly long: number }
  /** Topics beside those of things that it may use; absent: none. */
  readonly topics?: readonly TopicGrant[]
}

/**
 * A page of things, by thing id. A page looks at no more than 1,000 things: with `name`, `bbox` or `among` it may hold
 * fewer than `limit`, or none, and still have a `next`.
 */
export interface ThingQuery {
  /** 1..1000 */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
  /** Only these; the ids of things that there are no more are passed over. */
  readonly among?: ReadonlySet<string>
  /** Only things whose name contains this, without regard to case. */
  readonly name?: string
  /** Only things whose position lies in the box; degrees. West may be greater than east: across the 180th meridian. */
  readonly bbox?: {
    readonly west: number
    readonly south: number
    readonly east: number
    readonly north: number
  }
}

export interface TokenSummary {
  readonly tokenId: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly used: boolean
}

/** The things that are registered, and their tokens. */
export interface ThingRegistry {
  /** @param options `name` at most 200 characters, `topics` at most 100 @throws ThingwireError invalid_body */
  create(options: {
    readonly name?: string
    readonly topics?: readonly TopicGrant[]
  }): Promise<{ readonly thingId: string; readonly thingToken: string }>
  /** @throws ThingwireError invalid_cursor */
  list(query: ThingQuery): Promise<{ readonly things: readonly ThingSummary[]; readonly next?: string }>
  /** All things of exactly this name, by thing id. */
  named(name: string): Promise<readonly ThingSummary[]>
  /** Of the ids, those that no thing has. */
  missing(thingIds: readonly string[]): Promise<readonly string[]>
  /** @throws ThingwireError unknown_thing, invalid_body */
  rename(thingId: string, name: string): Promise<void>
  /** @param topics in the place of those before, at most 100. @throws ThingwireError unknown_thing, invalid_body */
  setTopics(thingId: string, topics: readonly TopicGrant[]): Promise<void>
  /**
   * Ends the thing's tokens at once and removes its data in the background; an interrupted removal goes on at the
   * next start, or on another node. @throws ThingwireError unknown_thing
   */
  remove(thingId: string): Promise<void>
  /** @throws ThingwireError unknown_thing, too_many_tokens */
  addToken(thingId: string): Promise<{ readonly thingToken: string; readonly tokenId: string }>
  /** @throws ThingwireError unknown_thing */
  tokens(thingId: string): Promise<readonly TokenSummary[]>
  /** @throws ThingwireError unknown_thing, not_found */
  removeToken(thingId: string, tokenId: string): Promise<void>
}

/** What a new session is to be. */
export interface AccessSessionTerms {
  readonly access: SessionAccess
  /** Whole seconds, at least 1. Default: a day. */
  readonly expiresIn?: number | undefined
  /** Topics beside those of things, at most 100; of a session that the operator mints. Default: none. */
  readonly topics?: readonly TopicGrant[] | undefined
}

/** A session that has just been minted: the only time at which its token is shown. */
export interface MintedAccessSession {
  readonly sessionToken: string
  readonly sessionId: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export interface AccessSessionSummary {
  readonly sessionId: string
  readonly things: '*' | readonly string[]
  readonly access: SessionAccess
  /** Topics beside those of things; absent: none. */
  readonly topics?: readonly TopicGrant[]
  readonly createdAt: number
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** Whether the operator minted it, and no thing. */
  readonly isOperators: boolean
}

/** Credentials for people, dashboards and apps (contract §6). */
export interface AccessSessionRegistry {
  /**
   * By the operator.
   *
   * @param things ids of 1 to 1,000 things that there are, or of none if there are topics; `*`: every thing, also those to come
   * @param terms `expiresIn` at most 366 days
   * @throws ThingwireError unknown_thing, invalid_body
   */
  create(things: '*' | readonly string[], terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * For one thing, by its token or by the operator. With the token it dies; a thing has at most 100 that live.
   *
   * @param credential the token or the admin key, which is asked for again
   * @param terms `expiresIn` at most 30 days
   * @throws ThingwireError as `identify`; forbidden, unknown_thing, invalid_body, too_many_sessions
   */
  createForThing(thingId: string, credential: string, terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * By session id, those that are not over: a page can hold fewer than `limit` and still have a `next`.
   *
   * @param query `limit` 1..1000, `cursor`: `next` of the page before
   * @throws ThingwireError invalid_cursor
   */
  list(query: { readonly limit: number; readonly cursor?: string }): Promise<{
    readonly sessions: readonly AccessSessionSummary[]
    readonly next?: string
  }>
  /** @throws ThingwireError not_found: there is none, or it is over */
  get(sessionId: string): Promise<AccessSessionSummary>
  /** @throws ThingwireError not_found */
  remove(sessionId: string): Promise<void>
}

export interface ActivationCodeSummary {
  readonly activationCode: string
  readonly createdAt: number
  /** How many things it can still activate. */
  readonly usesLeft: number
}

/** Codes by which a thing registers itself (contract §6, activation). */
export interface ActivationCodes {
  /** @param options `count` 1..1000 codes of `uses` 1..1,000,000 each */
  create(options: { readonly count: number; readonly uses: number }): Promise<readonly string[]>
  list(): Promise<readonly ActivationCodeSummary[]>
  /** @throws ThingwireError not_found */
  remove(code: string): Promise<void>
  /**
   * While uses are left, each call takes one; then the code answers again for things that have not used their token yet,
   * with a fresh one in its place. @throws ThingwireError unknown_activation_code: unknown or spent
   */
  activate(code: string): Promise<{ readonly thingId: string; readonly thingToken: string }>
}
