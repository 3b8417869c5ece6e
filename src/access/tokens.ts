import { randomBytes } from 'node:crypto'
import type { Document, DocumentStore } from '../core/ports.ts'
import { createToken, hashToken } from '../core/token.ts'
import {
  type AccessSessionDocument,
  type AccessSessionTokenDocument,
  type ActivationCodeDocument,
  accessSessionName,
  activationCodeName,
  type SourceDocument,
  type SourceTokenDocument,
  sourceName,
  type TokenDocument,
  type TokenEntry,
  tokenName,
  withoutLast,
} from './documents.ts'
import { LookupCache } from './lookup-cache.ts'
import type { SessionPrincipal, SourcePrincipal, ThingPrincipal } from './principal.ts'
import type { LastSeen } from './things/last-seen.ts'

const tokensInMemory = 100_000

type TokenPrincipal = ThingPrincipal | SessionPrincipal | SourcePrincipal

/** The live tokens of all things and sessions, cached for the hot path. */
export class Tokens {
  readonly #documents: DocumentStore
  readonly #lastSeen: LastSeen
  readonly #onSession: (hash: string, session: SessionPrincipal) => void
  readonly #principals = new LookupCache(hash => this.#authenticate(hash), tokensInMemory)

  /** @param onSession called with each session that is read into the cache */
  constructor(
    documents: DocumentStore,
    lastSeen: LastSeen,
    onSession: (hash: string, session: SessionPrincipal) => void,
  ) {
    this.#documents = documents
    this.#lastSeen = lastSeen
    this.#onSession = onSession
  }

  /**
   * The owner of the live token with this hash; undefined if there is none. The first use of a thing's token ends the activation of
   * the thing, so it is stored durably before this resolves. A refused request is also a use: the device evidently has the token.
   */
  async principalOf(hash: string): Promise<TokenPrincipal | undefined> {
    return this.#used(await this.#principals.get(hash))
  }

  /** Like `principalOf`, but only looks in the cache. If this returns undefined, call `principalOf`. */
  known(hash: string): TokenPrincipal | undefined {
    return this.#used(this.#principals.known(hash))
  }

  #used(principal: TokenPrincipal | undefined): TokenPrincipal | undefined {
    if (principal?.kind === 'thing') this.#lastSeen.note(principal.thingId)
    // The session may have ended although `SessionExpiry` has not noticed yet.
    if (principal?.kind === 'session' && principal.expiresAt <= Date.now()) return undefined
    return principal
  }

  /** Call this when the document of a token was removed. */
  forget(hash: string): void {
    this.#principals.forget(hash)
  }

  /** Call this when any token may have been removed. */
  forgetAll(): void {
    this.#principals.forgetAll()
  }

  async #authenticate(hash: string): Promise<TokenPrincipal | undefined> {
    const document = await this.#documents.get(tokenName(hash))
    if (!document) return undefined
    if ('sessionId' in document) return await this.#session(hash, document as AccessSessionTokenDocument)
    if ('sourceId' in document) return await this.#source(document as SourceTokenDocument)
    const { thingId, used, activationCode } = document as TokenDocument
    if (used) return { kind: 'thing', thingId }
    const codes = activationCode === undefined ? [] : [activationCodeName(activationCode)]
    const usedBy = await this.#documents.transact([tokenName(hash), ...codes], ([token, code]) =>
      use(hash, token as TokenDocument | undefined, code as ActivationCodeDocument | undefined),
    )
    return usedBy === undefined ? undefined : { kind: 'thing', thingId: usedBy }
  }

  async #source({ sourceId }: SourceTokenDocument): Promise<SourcePrincipal | undefined> {
    const source = (await this.#documents.get(sourceName(sourceId))) as SourceDocument | undefined
    return source && { kind: 'source', sourceId, terms: source }
  }

  async #session(
    hash: string,
    { sessionId }: AccessSessionTokenDocument,
  ): Promise<SessionPrincipal | undefined> {
    const session = (await this.#documents.get(accessSessionName(sessionId))) as
      | AccessSessionDocument
      | undefined
    if (!session || session.expiresAt <= Date.now()) return undefined
    const { things, access, topics, expiresAt, isThings = false } = session
    const principal: SessionPrincipal = {
      kind: 'session',
      sessionId,
      things: things === '*' ? things : new Set(things),
      access,
      ...(topics && { topics }),
      isOperators: !isThings,
      expiresAt,
    }
    this.#onSession(hash, principal)
    return principal
  }
}

function use(hash: string, token: TokenDocument | undefined, code: ActivationCodeDocument | undefined) {
  if (!token) return { put: {}, result: undefined, purpose: 'essential' as const }
  const { activationCode, ...kept } = token
  const put: Record<string, Document | null> = { [tokenName(hash)]: { ...kept, used: true } }
  if (activationCode !== undefined && code?.last?.hash === hash) {
    put[activationCodeName(activationCode)] = withoutLast(code)
  }
  return { put, result: token.thingId, purpose: 'essential' as const }
}

/** Makes a token for a thing. @returns in `put`: the document of the token, by name */
export function issueToken(thingId: string, activationCode?: string) {
  const thingToken = createToken()
  const entry: TokenEntry = { tokenId: randomBytes(6).toString('hex'), hash: hashToken(thingToken) }
  const document = { thingId, tokenId: entry.tokenId, createdAt: Date.now(), used: false }
  const put: Readonly<Record<string, TokenDocument>> = {
    [tokenName(entry.hash)]: activationCode === undefined ? document : { ...document, activationCode },
  }
  return { thingToken, entry, put }
}
