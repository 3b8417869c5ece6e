import type { Revocation } from '../access.ts'
import { principalName } from '../principal.ts'

/** What was revoked, removed or has expired. */
export interface Ended {
  /** Hashes of tokens, of things and of sessions. */
  readonly tokens?: readonly string[]
  /** Ids of sessions. */
  readonly sessions?: readonly string[]
  /** Ids of things of which all is gone. */
  readonly things?: readonly string[]
}

/** What has ended with these sessions and tokens of things. */
export function endedWith(
  sessions: readonly { readonly sessionId: string; readonly hash: string }[],
  tokens: readonly string[] = [],
): Ended {
  return {
    tokens: [...tokens, ...sessions.map(({ hash }) => hash)],
    sessions: sessions.map(({ sessionId }) => sessionId),
  }
}

/** Tells whoever relies on credentials that they are dead. */
export class Revocations {
  readonly #listeners = new Set<(revocation: Revocation) => void>()

  /** Returns how to stop. */
  onRevoke(listener: (revocation: Revocation) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell({ tokens = [], sessions = [], things = [] }: Ended): void {
    this.#tell({
      hashes: new Set(tokens),
      principals: new Set([
        ...sessions.map(sessionId => principalName({ kind: 'session', sessionId })),
        ...things.map(thingId => principalName({ kind: 'thing', thingId })),
      ]),
    })
  }

  /** Any credential may be dead, and it cannot be found out which. */
  tellAll(): void {
    this.#tell({ hashes: new Set(), principals: new Set(), all: true })
  }

  #tell(revocation: Revocation): void {
    for (const listener of this.#listeners) listener(revocation)
  }
}
