/** Authorisation for both doors (contract §1, §6), implemented in `authorise.ts`, `things` and `sessions`. */

import type { Redactor } from '../core/refusals/redactor.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { Principal, SessionAccess } from './principal.ts'

export type { Principal, SessionAccess, SessionPrincipal } from './principal.ts'

export type Action = 'write' | 'read' | 'delete' | 'read refused writes' | 'mint a session'

/** Credentials that are invalid from now on. */
export interface Revocation {
  /** `hashToken` of each. */
  readonly hashes: ReadonlySet<string>
  /** `principalName` of removed things and ended sessions. */
  readonly principals: ReadonlySet<string>
  /** Any credential may be revoked, since this node was cut off from the others: close everything that relies on one. */
  readonly all?: true
}

export interface Access {
  /** Redacts credentials, also the admin key, in texts of clients. */
  readonly redactor: Redactor
  /**
   * The thing that `<ref>` names, if the request may do `action` with it. A token is its own credential, and `credential` is then
   * ignored; an id needs one.
   *
   * @param credential content of the Authorization header after `Bearer `; undefined: there was none
   * @returns the id of the thing: synchronously if the thing's own token is in memory, since every write calls this; otherwise, and
   * for every refusal, a promise
   * @throws ThingwireError unknown_thing_token, missing_credential, invalid_session, forbidden, unknown_thing, not_found (`ref` has
   * the form of neither a token nor an id)
   */
  authorise(ref: string, credential: string | undefined, action: Action): string | Promise<string>
  /** @throws ThingwireError missing_credential, invalid_session, forbidden */
  authoriseAdmin(credential: string | undefined): Promise<void>
  /** The owner of a credential. @throws ThingwireError missing_credential, invalid_session */
  identify(credential: string | undefined): Promise<Principal>
  /**
   * Checks whether a credential still allows `action`, by its hash, since credentials must not be stored.
   *
   * @param credentialHash `hashToken` of a credential that `authorise` has accepted before
   * @throws ThingwireError invalid_session, forbidden, unknown_thing
   */
  authoriseAgain(credentialHash: string, thingId: string, action: Action): Promise<void>
  /** The thing of a live token. @throws ThingwireError unknown_thing_token */
  thingOfToken(token: string): Promise<string>
  /**
   * Calls `listener` when credentials expire, or when this node learns that any node has revoked them; perhaps more than once. It
   * must not throw. @returns the unsubscribe function
   */
  onRevoke(listener: (revocation: Revocation) => void): () => void
  /** A thing has published on another topic, which does not check its token again. */
  noteSeen(thingId: string): void
  /** The served topics that a principal may use now, other than those of things. @throws ThingwireError of the store */
  topicsOf(principal: Principal): Promise<readonly TopicGrant[]>
  /** As `topicsOf`. @param credentialHash `hashToken(credential)` @throws ThingwireError invalid_session */
  topicsAgain(credentialHash: string): Promise<readonly TopicGrant[]>
  /** Calls `listener` when the topics of a thing may have changed, on any node; it must not throw. @returns the unsubscribe function */
  onTopics(listener: (thingId: string) => void): () => void
}

export interface ThingSummary {
  readonly thingId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** When the thing last used its own token, or published on another topic, milliseconds; undefined: never. */
  readonly lastSeen: number | undefined
  /** When a write of the thing, with any credential, was last stored, milliseconds; undefined: none was noted. */
  readonly lastWrite: number | undefined
  readonly position?: { readonly lat: number; readonly long: number }
  /** Grants of other topics; absent: none. */
  readonly topics?: readonly TopicGrant[]
}

/**
 * A page of things, by thing id. A page examines at most 1,000 things: with `name`, `bbox` or `among` it may have fewer than
 * `limit`, or none, and still have a `next`.
 */
export interface ThingQuery {
  /** 1..1000 */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string
  /** Only these; ids without a thing are skipped. */
  readonly among?: ReadonlySet<string>
  /** Only things whose name contains this, in any case. */
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
  /** The ids that no thing has. */
  missing(thingIds: readonly string[]): Promise<readonly string[]>
  /** @throws ThingwireError unknown_thing, invalid_body */
  rename(thingId: string, name: string): Promise<void>
  /** @param topics replace the former ones, at most 100. @throws ThingwireError unknown_thing, invalid_body */
  setTopics(thingId: string, topics: readonly TopicGrant[]): Promise<void>
  /**
   * Ends the thing's tokens at once and removes its data in the background. An interrupted removal goes on at the next start, or on
   * another node. @throws ThingwireError unknown_thing
   */
  remove(thingId: string): Promise<void>
  /** @throws ThingwireError unknown_thing, too_many_tokens */
  addToken(thingId: string): Promise<{ readonly thingToken: string; readonly tokenId: string }>
  /** @throws ThingwireError unknown_thing */
  tokens(thingId: string): Promise<readonly TokenSummary[]>
  /** @throws ThingwireError unknown_thing, not_found */
  removeToken(thingId: string, tokenId: string): Promise<void>
}

export interface AccessSessionTerms {
  readonly access: SessionAccess
  /** Whole seconds, at least 1. Default: a day. */
  readonly expiresIn?: number | undefined
  /** Grants of other topics, at most 100, in sessions that the operator mints. Default: none. */
  readonly topics?: readonly TopicGrant[] | undefined
}

/** A new session. Its token is not shown again. */
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
  /** Grants of other topics; absent: none. */
  readonly topics?: readonly TopicGrant[]
  readonly createdAt: number
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly isOperators: boolean
}

/** Credentials for people, dashboards and apps (contract §6). */
export interface AccessSessionRegistry {
  /**
   * Mints a session of the operator.
   *
   * @param things ids of 1 to 1,000 existing things, or of none if there are topics; `*`: every thing, also future ones
   * @param terms `expiresIn` at most 366 days
   * @throws ThingwireError unknown_thing, invalid_body
   */
  create(things: '*' | readonly string[], terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * Mints a session for one thing, by its token or by the operator. A session ends with the token that minted it; a thing has at
   * most 100 live ones.
   *
   * @param credential the token or the admin key, which is checked again
   * @param terms `expiresIn` at most 30 days
   * @throws ThingwireError as `identify`; forbidden, unknown_thing, invalid_body, too_many_sessions
   */
  createForThing(thingId: string, credential: string, terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * Lists live sessions by id. A page can have fewer than `limit` and still have a `next`.
   *
   * @param query `limit` 1..1000, `cursor`: `next` of the page before
   * @throws ThingwireError invalid_cursor
   */
  list(query: { readonly limit: number; readonly cursor?: string }): Promise<{
    readonly sessions: readonly AccessSessionSummary[]
    readonly next?: string
  }>
  /** @throws ThingwireError not_found: there is none, or it has ended */
  get(sessionId: string): Promise<AccessSessionSummary>
  /** @throws ThingwireError not_found */
  remove(sessionId: string): Promise<void>
}

export interface ActivationCodeSummary {
  readonly activationCode: string
  readonly createdAt: number
  /** Things that it can still activate. */
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
   * Takes a use of the code and makes a thing. If the thing of the previous call has not used its token, the code answers for that
   * thing again instead, with a new token. @throws ThingwireError unknown_activation_code: unknown or used up
   */
  activate(code: string): Promise<{ readonly thingId: string; readonly thingToken: string }>
}
