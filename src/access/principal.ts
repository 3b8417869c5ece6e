import { isToken } from '../core/token.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'

/** The owner of a credential (contract §1). */
export type Principal = ThingPrincipal | SessionPrincipal | { readonly kind: 'admin' }

export interface ThingPrincipal {
  readonly kind: 'thing'
  readonly thingId: string
}

/** A person, a dashboard or an app. Its rights never change, so what it was once allowed (a subscription) is not checked again. */
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

/** Whether a write is the operator's. With a thing token as `ref`, it is the thing's, whoever sends it (contract §1). */
export function isOperatorsWrite(ref: string, principal: Principal | undefined): boolean {
  return principal?.kind === 'admin' && !isToken(ref)
}

/** The name of a principal, such as `thing.<id>`. Has no secrets or colons, and is the same for all the principal's credentials. */
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
