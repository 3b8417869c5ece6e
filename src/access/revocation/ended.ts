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

/** The event for whoever relies on credentials. */
export function revocationOf({ tokens = [], sessions = [], things = [] }: Ended): Revocation {
  const principals = [
    ...sessions.map(sessionId => principalName({ kind: 'session', sessionId })),
    ...things.map(thingId => principalName({ kind: 'thing', thingId })),
  ]
  return { hashes: new Set(tokens), principals: new Set(principals) }
}
