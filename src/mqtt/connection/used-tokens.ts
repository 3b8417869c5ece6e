import { strikeOut } from '../../core/refusals/redactor.ts'
import { hashToken, isToken } from '../../core/token.ts'

/**
 * The tokens that a connection has used. The connection is closed when one of these tokens is revoked. A token in a topic counts
 * even if the client connected with another credential.
 */
export class UsedTokens {
  /** SHA-256 hash of each token. */
  readonly #hashes = new Map<string, string>()

  /** Call this before looking up the token. Otherwise a revocation during the lookup would be missed. */
  relyOn(credential: string): void {
    // Only tokens can be revoked while the server runs.
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

  /** Redacts the tokens in a text, whether a token is whole, cut or escaped. */
  strikeOut(text: string): string {
    let struck = text
    for (const token of this.#hashes.keys()) struck = strikeOut(token, struck)
    return struck
  }
}
