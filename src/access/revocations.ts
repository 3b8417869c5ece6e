import type { Revocation } from './access.ts'
import { principalName } from './principal.ts'

/** What was revoked, removed or has expired. */
export interface Ended {
  /** Hashes of thing tokens. */
  readonly tokens?: readonly string[]
  /** `hash`: of the session's token. */
  readonly sessions?: readonly { readonly sessionId: string; readonly hash: string }[]
  /** The thing, if all of it is gone. */
  readonly thingId?: string
}

/** Tells whoever relies on credentials that they are dead. */
export class Revocations {
  readonly #listeners = new Set<(revocation: Revocation) => void>()

  /** Returns how to stop. */
  onRevoke(listener: (revocation: Revocation) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell({ tokens = [], sessions = [], thingId }: Ended): void {
    const principals = sessions.map(({ sessionId }) => principalName({ kind: 'session', sessionId }))
    if (thingId !== undefined) principals.push(principalName({ kind: 'thing', thingId }))
    const hashes = new Set([...tokens, ...sessions.map(({ hash }) => hash)])
    for (const listener of this.#listeners) listener({ hashes, principals: new Set(principals) })
  }
}
