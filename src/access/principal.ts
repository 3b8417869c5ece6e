import { isToken } from '../core/token.ts'
import type { TopicGrant } from '../core/topics/topic-grant.ts'

/** The owner of a credential (contract §1). */
export type Principal = ThingPrincipal | SessionPrincipal | SourcePrincipal | { readonly kind: 'admin' }

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

/** A credential for many devices (contract §1), which may use its topics, and whose messages are read. */
export interface SourcePrincipal {
  readonly kind: 'source'
  readonly sourceId: string
  readonly terms: SourceTerms
}

/** What a source may do. If the terms change, its connections are closed, and come again under the new ones. */
export type SourceTerms = {
  /** Names of formats, in the order in which they are tried. */
  readonly formats: readonly string[]
  /** The pattern of the format `levels`, such as `garden/{device}/{key}`. */
  readonly pattern?: string
  /** Filters of the topics that it may use: `#`, or as in the option `topics`. */
  readonly topics: readonly string[]
  /** Whether a device that no thing is known for gets a new thing. */
  readonly things: 'create' | 'known'
}

export type SessionAccess = 'read' | 'write'

/** Whether a write counts as the operator's. If `ref` is a thing token, the write counts as the thing's (contract §1). */
export function isOperatorsWrite(ref: string, principal: Principal | undefined): boolean {
  return principal?.kind === 'admin' && !isToken(ref)
}

/** The name of a principal, such as `thing.<id>`, the same for all its credentials. Contains no secret and no colon. */
export function principalName(
  principal:
    | Principal
    | Pick<SessionPrincipal, 'kind' | 'sessionId'>
    | Pick<SourcePrincipal, 'kind' | 'sourceId'>,
): string {
  switch (principal.kind) {
    case 'source':
      return `source.${principal.sourceId}`
    case 'thing':
      return `thing.${principal.thingId}`
    case 'session':
      return `session.${principal.sessionId}`
    case 'admin':
      return 'admin'
  }
}
