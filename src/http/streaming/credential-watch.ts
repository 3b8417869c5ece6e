import type { Access, Revocation } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { hashToken, isToken } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'

/**
 * Follows what a long answer is given for, from before it is authorised: a credential that dies at any moment after
 * that is noticed (contract §6, revocation). Only streams are watched: an export or a backup under way goes on.
 */
export class CredentialWatch {
  /** Ends the watch. */
  readonly stop: () => void
  readonly #ref: string
  readonly #hash: string
  #error: ThingwireError | undefined
  #onDead = () => {}

  /**
   * @param ref thing token or thing id, as in `Access.authorise`
   * @param credential as there
   */
  constructor(access: Pick<Access, 'onRevoke'>, ref: string, credential: string | undefined) {
    this.#ref = ref
    this.#hash = hashToken(isToken(ref) ? ref : (credential ?? ''))
    this.stop = access.onRevoke(revocation => this.#look(revocation))
  }

  /** Calls `listener` when access has ended. @throws ThingwireError if it already has */
  onDead(listener: () => void): void {
    if (this.#error) throw this.#error
    this.#onDead = listener
  }

  #look({ hashes, principals, all }: Revocation): void {
    if (this.#error) return
    if (hashes.has(this.#hash)) {
      this.#error = new ThingwireError(isToken(this.#ref) ? 'unknown_thing_token' : 'invalid_session')
    } else if (principals.has(principalName({ kind: 'thing', thingId: this.#ref }))) {
      this.#error = new ThingwireError('unknown_thing')
    } else if (all) {
      this.#error = new ThingwireError('store_unavailable')
    }
    if (this.#error) this.#onDead()
  }
}
