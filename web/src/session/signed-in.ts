import type { Api } from '../api/http.ts'
import type { Principal } from '../api/principal.ts'
import type { LiveConnection } from '../live/connection.ts'

/** Passed to every page: the principal, and the HTTP and MQTT connections to the server. */
export interface SignedIn {
  readonly credential: string
  readonly principal: Principal
  readonly api: Api
  readonly live: LiveConnection
}
