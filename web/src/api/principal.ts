import type { Api } from './http.ts'
import { visibleName } from './visible-name.ts'

/** The principal of a credential: the answer of `GET /v2/principal`. */
export type Principal =
  | { readonly kind: 'thing'; readonly thingId: string; readonly name: string }
  | {
      readonly kind: 'session'
      readonly sessionId: string
      readonly access: 'read' | 'write'
      /** Thing ids, or `*` for all things. */
      readonly things: '*' | readonly string[]
      /** Whether an operator created the session. Any other session has at most the rights of one thing. */
      readonly isOperators: boolean
      /** RFC 3339. */
      readonly expiresAt: string
    }
  | { readonly kind: 'admin' }

/** @throws ApiError 401 for a credential that is unknown, revoked or expired */
export async function fetchPrincipal(api: Api): Promise<Principal> {
  const principal = await api.get<Principal>('/v2/principal')
  return principal.kind === 'thing' ? { ...principal, name: visibleName(principal.name) } : principal
}
