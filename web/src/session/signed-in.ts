import type { Api } from '../api/http.ts'
import type { Principal } from '../api/principal.ts'
import type { LiveConnection } from '../live/connection.ts'

/** What every page is given: whom the person is signed in as, and the two ways to the server. */
export interface SignedIn {
  readonly credential: string
  readonly principal: Principal
  readonly api: Api
  readonly live: LiveConnection
}
