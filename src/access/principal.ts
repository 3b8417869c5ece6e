import { isToken } from '../core/token.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'

/** Who a credential stands for (contract §1). */
export type Principal = ThingPrincipal | SessionPrincipal | { readonly kind: 'admin' }

export interface ThingPrincipal {
  readonly kind: 'thing'
  readonly thingId: string
}

/**
 * A person, a dashboard or an app. The rights of a session never change: another session is minted instead. So no grant,
 * such as a subscription, has to be looked at again.
 */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  /** Ids of the things that it may see; `*`: all. */
  readonly things: '*' | ReadonlySet<string>
  readonly access: SessionAccess
  /** Topics beside those of things; absent: none. */
  readonly topics?: readonly TopicGrant[]
  /** Whether the operator minted it, and no thing. */
  readonly isOperators: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export type SessionAccess = 'read' | 'write'

/** Whether a write is the operator's. A thing's token in its address is its own credential, whoever sends it (contract §1). */
export function isOperatorsWrite(ref: string, principal: Principal | undefined): boolean {
  return principal?.kind === 'admin' && !isToken(ref)
}

/** Without secrets, such as `thing.<id>`; the same for every credential of a principal. Has no colon. */
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
