import { strikeOut } from '../../core/refusals/redactor.ts'
import { hashToken, isToken } from '../../core/token.ts'

/**
 * The tokens that a connection has used. It relies on a token in a topic even if it has another credential: nobody knows with which
 * of the two its client goes on.
 */
export class UsedTokens {
  /** SHA-256, by token. */
  readonly #hashes = new Map<string, string>()

  /** To be called before it is asked what the token allows, so that it cannot be revoked unnoticed in between. */
  relyOn(credential: string): void {
    // No other credential can be revoked while the server runs.
    if (this.#hashes.has(credential) || !isToken(credential)) return
    this.#hashes.set(credential, hashToken(credential))
  }

  /** @param hashes SHA-256 of tokens */
  hasAny(hashes: ReadonlySet<string>): boolean {
    for (const hash of this.#hashes.values()) if (hashes.has(hash)) return true
    return false
  }

  get hasSome(): boolean {
    return this.#hashes.size > 0
  }

  /** A text of the client without them, whole or cut, in whatever spelling. */
  strikeOut(text: string): string {
    let struck = text
    for (const token of this.#hashes.keys()) struck = strikeOut(token, struck)
    return struck
  }
}
