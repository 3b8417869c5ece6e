import type { Revocation } from '../access.ts'
import { principalName } from '../principal.ts'

export interface Ended {
  /** Hashes of ended tokens of things and sessions. */
  readonly tokens?: readonly string[]
  /** Ids of ended sessions. */
  readonly sessions?: readonly string[]
  /** Ids of removed things. */
  readonly things?: readonly string[]
  /** Ids of removed sources. */
  readonly sources?: readonly string[]
  /** Devices of sources whose things were removed: names of their documents, without the prefix. */
  readonly devices?: readonly string[]
}

/** @param tokens hashes of ended thing tokens */
export function endedWith(
  sessions: readonly { readonly sessionId: string; readonly hash: string }[],
  tokens: readonly string[] = [],
): Ended {
  return {
    tokens: [...tokens, ...sessions.map(({ hash }) => hash)],
    sessions: sessions.map(({ sessionId }) => sessionId),
  }
}

/** The argument for listeners of `Access.onRevoke`. */
export function revocationOf({ tokens = [], sessions = [], things = [], sources = [] }: Ended): Revocation {
  const principals = [
    ...sources.map(sourceId => principalName({ kind: 'source', sourceId })),
    ...sessions.map(sessionId => principalName({ kind: 'session', sessionId })),
    ...things.map(thingId => principalName({ kind: 'thing', thingId })),
  ]
  return { hashes: new Set(tokens), principals: new Set(principals) }
}
