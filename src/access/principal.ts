import { isToken } from '../core/token.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'

/** The owner of a credential (contract §1). */
export type Principal = ThingPrincipal | SessionPrincipal | { readonly kind: 'admin' }

export interface ThingPrincipal {
  readonly kind: 'thing'
  readonly thingId: string
}

/** A person, a dashboard or an app. The rights of a session never change, so a permitted subscription is not checked again. */
export interface SessionPrincipal {
  readonly kind: 'session'
  readonly sessionId: string
  /** Ids of the things that the session may see; `*` means all things. */
  readonly things: '*' | ReadonlySet<string>
  readonly access: SessionAccess
  /** Grants for topics that belong to no thing; absent if there are none. */
  readonly topics?: readonly TopicGrant[]
  /** Whether the operator minted the session; false if a thing did. */
  readonly isOperators: boolean
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export type SessionAccess = 'read' | 'write'

/** Whether a write counts as the operator's. If `ref` is a thing token, the write counts as the thing's (contract §1). */
export function isOperatorsWrite(ref: string, principal: Principal | undefined): boolean {
  return principal?.kind === 'admin' && !isToken(ref)
}

/** The name of a principal, such as `thing.<id>`, the same for all its credentials. Contains no secret and no colon. */
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
