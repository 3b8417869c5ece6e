import { type Api, ApiError } from './http.ts'
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

/** @throws ApiError 401 for a credential that is unknown, revoked or expired; 403 for a source, which may read nothing */
export async function fetchPrincipal(api: Api): Promise<Principal> {
  const principal = await api.get<Principal | { readonly kind: 'source' }>('/v2/principal')
  if (principal.kind === 'source') {
    const message = 'This is the password of a source. Devices send with it. It opens no page.'
    throw new ApiError({ status: 403, reason: 'forbidden', message })
  }
  return principal.kind === 'thing' ? { ...principal, name: visibleName(principal.name) } : principal
}
