/** The interfaces of authorisation over HTTP and MQTT (contract §1, §6), implemented in `authorise.ts`, `things` and `sessions`. */

import type { Ticket } from '../core/async/ticket.ts'
import type { Lock } from '../core/locks.ts'
import type { Redactor } from '../core/refusals/redactor.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'
import type { DeviceOfSource } from './documents.ts'
import type { Principal, SessionAccess, SourcePrincipal, SourceTerms } from './principal.ts'

export type { Principal, SessionAccess, SessionPrincipal, SourcePrincipal, SourceTerms } from './principal.ts'

export type Action = 'write' | 'read' | 'delete' | 'read refused writes' | 'mint a session'

/** Credentials that are invalid from now on. */
export interface Revocation {
  /** `hashToken` of each revoked credential. */
  readonly hashes: ReadonlySet<string>
  /** `principalName` of each removed thing, ended session, and removed or changed source. */
  readonly principals: ReadonlySet<string>
  /** Set if the principals go on under other terms: their connections are closed, and what is kept for them stays. */
  readonly isChange?: true
  /** Set if this node was cut off from other nodes and may have missed a revocation. Close everything that needs a credential. */
  readonly all?: true
}

export interface Access {
  /** Redacts credentials, including the admin key, in texts from clients. */
  readonly redactor: Redactor
  /**
   * Finds the thing that `ref` names, and checks whether the request may do `action` with the thing. If `ref` is a token, the token
   * is the credential, and `credential` is ignored. If `ref` is an id, `credential` is needed.
   *
   * @param credential content of the Authorization header after `Bearer `; undefined if there was none
   * @returns the id of the thing if the credential is the thing's own token and is cached (the fast path of every write); otherwise
   * a promise for the id, which rejects if the request is refused
   * @throws ThingwireError unknown_thing_token, missing_credential, invalid_session, forbidden, unknown_thing; not_found if `ref`
   * has neither the form of a token nor that of an id
   */
  authorise(ref: string, credential: string | undefined, action: Action): string | Promise<string>
  /** @throws ThingwireError missing_credential, invalid_session, forbidden */
  authoriseAdmin(credential: string | undefined): Promise<void>
  /** The owner of a credential. @throws ThingwireError missing_credential, invalid_session */
  identify(credential: string | undefined): Promise<Principal>
  /**
   * Checks whether a credential still allows `action`. Takes the hash of the credential, since credentials must not be stored.
   *
   * @param credentialHash `hashToken` of a credential that `authorise` has accepted earlier
   * @throws ThingwireError invalid_session, forbidden, unknown_thing
   */
  authoriseAgain(credentialHash: string, thingId: string, action: Action): Promise<void>
  /**
   * The source that a credential belongs to.
   *
   * @param sourceId the source that it must be; undefined: any
   * @throws ThingwireError missing_credential, invalid_session, forbidden; not_found if `sourceId` does not have the form of an id
   */
  authoriseSource(credential: string | undefined, sourceId?: string): Promise<SourcePrincipal>
  /** Id of the thing to which a live token belongs. @throws ThingwireError unknown_thing_token */
  thingOfToken(token: string): Promise<string>
  /**
   * Calls `listener`, which must not throw, when credentials expire or this node learns that any node has revoked them. The same
   * revocation may be reported more than once. @returns the unsubscribe function
   */
  onRevoke(listener: (revocation: Revocation) => void): () => void
  /** Call this when a thing publishes on a topic that belongs to no thing (contract §7.10). The thing then counts as seen. */
  noteSeen(thingId: string): void
  /** The principal's present grants for served topics that belong to no thing. @throws ThingwireError if the store fails */
  topicsOf(principal: Principal): Promise<readonly TopicGrant[]>
  /** Like `identify`. @param credentialHash `hashToken(credential)` @throws ThingwireError invalid_session */
  identifyAgain(credentialHash: string): Promise<Principal>
  /**
   * Calls `listener`, which must not throw, when any node may have changed the topics of a thing, or, if `thingId` is undefined, those
   * of a source, within which the grants of every principal may lie. @returns the unsubscribe function
   */
  onTopics(listener: (thingId: string | undefined) => void): () => void
}

export interface ThingSummary {
  readonly thingId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** When the thing last used its own token, or published on a topic that belongs to no thing, milliseconds; undefined if never. */
  readonly lastSeen: number | undefined
  /** When a write to the thing, with any credential, was last stored, milliseconds; undefined if no write is known. */
  readonly lastWrite: number | undefined
  readonly position?: { readonly lat: number; readonly long: number }
  /** The device of a source that the thing stands for. */
  readonly source?: DeviceOfSource
  /** Grants for topics that belong to no thing; absent if there are none. */
  readonly topics?: readonly TopicGrant[]
}

/**
 * Asks for a page of things, in the order of their ids. At most 1,000 things are examined for a page, so with `name`, `bbox` or
 * `among` a page may have fewer than `limit` things, or none, and still have a `next`.
 */
export interface ThingQuery {
  /** Maximum number of things, 1 to 1,000. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly cursor?: string
  /** Selects only things with these ids. Ids that no thing has are skipped. */
  readonly among?: ReadonlySet<string>
  /** Selects only things of this source. */
  readonly sourceId?: string
  /** Selects only things whose name contains this text; case does not matter. */
  readonly name?: string
  /** Selects only things with a position in this box, in degrees. If `west` exceeds `east`, the box crosses the 180th meridian. */
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
  /** @param options `name` has at most 200 characters, `topics` at most 100 grants @throws ThingwireError invalid_body */
  create(options: {
    readonly name?: string
    readonly topics?: readonly TopicGrant[]
  }): Promise<{ readonly thingId: string; readonly thingToken: string }>
  /** @throws ThingwireError invalid_cursor */
  list(query: ThingQuery): Promise<{ readonly things: readonly ThingSummary[]; readonly next?: string }>
  /** All things with exactly this name, in the order of their ids. */
  named(name: string): Promise<readonly ThingSummary[]>
  /** The given ids that no thing has. */
  missing(thingIds: readonly string[]): Promise<readonly string[]>
  /** @throws ThingwireError unknown_thing, invalid_body */
  rename(thingId: string, name: string): Promise<void>
  /** @param topics at most 100 grants, which replace all former grants @throws ThingwireError unknown_thing, invalid_body */
  setTopics(thingId: string, topics: readonly TopicGrant[]): Promise<void>
  /**
   * Ends the thing's tokens immediately and removes its data in the background. If the removal is interrupted, it continues at the
   * next start or on another node. @throws ThingwireError unknown_thing
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
  /** Whole seconds, at least 1. Default: one day. */
  readonly expiresIn?: number | undefined
  /** At most 100 grants for topics that belong to no thing. Only for sessions that the operator mints. Default: none. */
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
  /** Grants for topics that belong to no thing; absent if there are none. */
  readonly topics?: readonly TopicGrant[]
  readonly createdAt: number
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly isOperators: boolean
}

/** Credentials for people, dashboards and apps (contract §6). */
export interface AccessSessionRegistry {
  /**
   * Mints a session for the operator.
   *
   * @param things ids of 1 to 1,000 existing things, or none if `terms` has topics; `*` means all things, including future ones
   * @param terms `expiresIn` must be at most 366 days
   * @throws ThingwireError unknown_thing, invalid_body
   */
  create(things: '*' | readonly string[], terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * Mints a session for one thing, on behalf of the thing or the operator. A session that was minted with a thing's token ends with
   * that token. A thing can have at most 100 live sessions minted this way.
   *
   * @param credential the thing's token or the admin key, which is checked again
   * @param terms `expiresIn` must be at most 30 days
   * @throws ThingwireError the errors of `identify`; forbidden, unknown_thing, invalid_body, too_many_sessions
   */
  createForThing(thingId: string, credential: string, terms: AccessSessionTerms): Promise<MintedAccessSession>
  /**
   * Lists live sessions in the order of their ids. A page can have fewer than `limit` sessions and still have a `next`.
   *
   * @param query `limit` is 1 to 1,000; `cursor` is `next` of the previous page
   * @throws ThingwireError invalid_cursor
   */
  list(query: { readonly limit: number; readonly cursor?: string }): Promise<{
    readonly sessions: readonly AccessSessionSummary[]
    readonly next?: string
  }>
  /** @throws ThingwireError not_found: there is no such session, or it has ended */
  get(sessionId: string): Promise<AccessSessionSummary>
  /** @throws ThingwireError not_found */
  remove(sessionId: string): Promise<void>
}

/** What a source is created with; for all that is absent there is a default. */
export interface SourceOptions extends SourceChange {
  readonly name: string
}

/** What is absent stays as it is. */
export interface SourceChange {
  /** 1 to 200 characters. */
  readonly name?: string
  readonly formats?: SourceTerms['formats']
  readonly pattern?: string
  readonly topics?: SourceTerms['topics']
  readonly things?: SourceTerms['things']
  /** Whether its topics may overlap those of other sources. */
  readonly overlap?: boolean
}

export interface SourceSummary extends SourceTerms {
  readonly sourceId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** Credentials that may write for many devices, whose things they make (contract §6). */
export interface SourceRegistry {
  /** @throws ThingwireError invalid_body, topics_overlap, too_many_sources */
  create(options: SourceOptions): Promise<{ readonly sourceId: string; readonly sourceToken: string }>
  /** All sources, at most 1,000, in the order of their ids. */
  list(): Promise<readonly SourceSummary[]>
  /** @throws ThingwireError not_found */
  get(sourceId: string): Promise<SourceSummary>
  /**
   * Its connections are closed, and come again under the new terms. `formats` replaces the pattern, too.
   *
   * @throws ThingwireError not_found, invalid_body, topics_overlap
   */
  change(sourceId: string, options: SourceChange): Promise<void>
  /** Gives the source another token. The one before, and the connections that used it, end. @throws ThingwireError not_found */
  renewToken(sourceId: string): Promise<{ readonly sourceToken: string }>
  /** Ends the source and its connections. Its things and their records stay. @throws ThingwireError not_found */
  remove(sourceId: string): Promise<void>
}

/** The things of a source, by device. */
export interface SourceThings {
  /** The thing of a device if it is in memory; if not, call `thingOf`. */
  known(sourceId: string, device: string): string | undefined
  /**
   * The thing of a device. The first device to be known by its identifier takes the thing that was made by the name of the device.
   *
   * @param alias the name in the topic, if `device` is another identifier
   * @param name names a thing that is made; undefined: no thing is made
   * @returns the thing, and whether it became that of the device only now; undefined if there is no thing and none is made
   * @throws ThingwireError too_many_things
   */
  thingOf(
    source: SourcePrincipal,
    device: string,
    alias: string | undefined,
    name: string | undefined,
  ): Promise<{ readonly thingId: string; readonly isNew: boolean } | undefined>
  /** Marks the thing of a device as gone, or as back. */
  markGone(sourceId: string, device: string, isGone: boolean): Promise<void>
  /** Attaches a device to a thing, in the place of the thing that it had. @throws ThingwireError unknown_thing, not_found */
  attach(thingId: string, sourceId: string, device: string): Promise<void>
}

/** Reads the messages of sources (contract §7.12). */
export interface SourceMessages {
  /**
   * Stores the records that the formats of the source find in a message. Messages are read in the order of the calls.
   *
   * @param ticket resolves when all of these records are durable; what could not be read or stored is on the source's list. Rejects with
   * LockLost, with a ThingwireError if the store fails (the message is not acknowledged and should be sent again), and with invalid_body
   * if no format of the source reads a post
   */
  take(source: SourcePrincipal, message: SourceMessage, ticket: Ticket<TakenMessage>): void
}

export interface TakenMessage {
  /** The JSON that the format wants as the answer to a post. */
  readonly reply?: unknown
  /** The first part of the message that could not be read or stored, and why; undefined if there is none. */
  readonly refused: string | undefined
}

/** A message on a topic, or a post. */
export type SourceMessage = CarriedMessage &
  ({ readonly topic: string; readonly post?: never } | { readonly post: SourcePost; readonly topic?: never })

/** What an HTTP request to a source holds. */
export interface SourcePost {
  /** JSON that is parsed, or lines as a text. */
  readonly body: unknown
  readonly query: Readonly<Record<string, unknown>>
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, unknown>>
}

interface CarriedMessage {
  readonly door: 'http' | 'mqtt'
  /** As it was sent, for the list of refused writes. */
  readonly payload: Uint8Array
  /** Set for a retained message that its client sends after it has connected again: what is known already is not stored again. */
  readonly isRepeated?: boolean
  /** The same for a message and for its copy that is sent again: its records are stored once. */
  readonly id?: string | undefined
  readonly lock?: Lock | undefined
  readonly sender?: object
}

/** What the formats say of the terms of a source. */
export interface SourceRules {
  readonly defaultFormats: readonly string[]
  /** Whether one of the formats reads messages on topics. */
  readsTopics(formats: readonly string[]): boolean
  /** What is wrong with formats, pattern or topics, as a sentence without a full stop; undefined if nothing is. */
  fault(
    formats: readonly string[],
    pattern: string | undefined,
    topics?: readonly string[],
  ): string | undefined
}

export interface ActivationCodeSummary {
  readonly activationCode: string
  readonly createdAt: number
  /** Number of things that the code can still activate. */
  readonly usesLeft: number
}

/** Codes with which a thing registers itself (contract §6, activation). */
export interface ActivationCodes {
  /** @param options `count`: number of codes, 1 to 1,000; `uses`: uses of each code, 1 to 1,000,000 */
  create(options: { readonly count: number; readonly uses: number }): Promise<readonly string[]>
  list(): Promise<readonly ActivationCodeSummary[]>
  /** @throws ThingwireError not_found */
  remove(code: string): Promise<void>
  /**
   * Uses up one of the code's uses and creates a thing. However, if the last thing created with the code has not used its token
   * yet, returns that thing again with a new token, without using up another use.
   *
   * @throws ThingwireError unknown_activation_code: the code is unknown or used up
   */
  activate(code: string): Promise<{ readonly thingId: string; readonly thingToken: string }>
}
