import { randomBytes } from 'node:crypto'
import type { Document, DocumentStore } from '../core/ports.ts'
import { createToken, hashToken } from '../core/token.ts'
import {
  type ActivationCodeDocument,
  activationCodeName,
  type TokenDocument,
  type TokenEntry,
  tokenName,
  withoutLast,
} from './documents.ts'
import type { LastSeen } from './last-seen.ts'
import { LookupCache } from './lookup-cache.ts'

const tokensInMemory = 100_000

/** The live tokens of all things, as the hot path asks for them. */
export class Tokens {
  readonly #documents: DocumentStore
  readonly #lastSeen: LastSeen
  readonly #things = new LookupCache(hash => this.#authenticate(hash), tokensInMemory)

  constructor(documents: DocumentStore, lastSeen: LastSeen) {
    this.#documents = documents
    this.#lastSeen = lastSeen
  }

  /**
   * The thing whose live token has this hash; undefined if there is none. That a token was used is durable before the
   * first answer, because from then on its activation code is dead.
   */
  async thingOfHash(hash: string): Promise<string | undefined> {
    const thingId = await this.#things.get(hash)
    if (thingId !== undefined) this.#lastSeen.note(thingId)
    return thingId
  }

  /** To be called when the document of a token was removed. */
  forget(hash: string): void {
    this.#things.forget(hash)
  }

  async #authenticate(hash: string): Promise<string | undefined> {
    const token = (await this.#documents.get(tokenName(hash))) as TokenDocument | undefined
    if (!token || token.used) return token?.thingId
    const { activationCode } = token
    const codes = activationCode === undefined ? [] : [activationCodeName(activationCode)]
    return await this.#documents.transact([tokenName(hash), ...codes], ([token, code]) =>
      use(hash, token as TokenDocument | undefined, code as ActivationCodeDocument | undefined),
    )
  }
}

function use(hash: string, token: TokenDocument | undefined, code: ActivationCodeDocument | undefined) {
  if (!token) return { put: {}, result: undefined }
  const { activationCode, ...kept } = token
  const put: Record<string, Document | null> = { [tokenName(hash)]: { ...kept, used: true } }
  if (activationCode !== undefined && code?.last?.hash === hash) {
    put[activationCodeName(activationCode)] = withoutLast(code)
  }
  return { put, result: token.thingId }
}

/** A token that is about to be given out. */
export interface IssuedToken {
  readonly thingToken: string
  readonly entry: TokenEntry
  /** Its document and the name of that, to be put. */
  readonly put: Readonly<Record<string, TokenDocument>>
}

export function issueToken(thingId: string, activationCode?: string): IssuedToken {
  const thingToken = createToken()
  const entry = { tokenId: randomBytes(6).toString('hex'), hash: hashToken(thingToken) }
  const document = { thingId, tokenId: entry.tokenId, createdAt: Date.now(), used: false }
  const put = {
    [tokenName(entry.hash)]: activationCode === undefined ? document : { ...document, activationCode },
  }
  return { thingToken, entry, put }
}
