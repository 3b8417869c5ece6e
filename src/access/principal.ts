import { isToken } from '../core/token.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'

/** The owner of a credential (contract §1). */
export type Principal = ThingPrincipal | SessionPrincipal | { readonly kind: 'admin' }

export interface ThingPrincipal {
  readonly kind: 'thing'
  readonly thingId: string
}

/** A person, a dashboard or an app. Its rights never change, so its grants, such as subscriptions, need not be checked again. */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  /** Ids of the things that the session may see; `*`: all. */
  readonly things: '*' | ReadonlySet<string>
  readonly access: SessionAccess
  /** Grants of other topics; absent: none. */
  readonly topics?: readonly TopicGrant[]
  /** Whether the operator minted it, not a thing. */
  readonly isOperators: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export type SessionAccess = 'read' | 'write'

/** Whether a write is the operator's. A token in the address makes it the thing's, whoever sends it (contract §1). */
export function isOperatorsWrite(ref: string, principal: Principal | undefined): boolean {
  return principal?.kind === 'admin' && !isToken(ref)
}

/** A name without secrets or colons, such as `thing.<id>`; the same for every credential of a principal. */
export function principalName(principal: Principal | Pick<SessionPrincipal, 'kind' | 'sessionId'>): string {
  switch (principal.kind) {
    case 'thing':
      return `thing.${principal.thingId}`
    case 'session':
      return `session.${principal.sessionId}`
    case 'admin':
      return 'admin'
  }
}
