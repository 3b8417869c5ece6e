import type { Api } from './http.ts'
import type { ThingsPage, ThingsQuery } from './things.ts'

/** Requests that need the admin key (`/v2/admin/…`). Every function throws `ApiError`. Times are in RFC 3339. */

export interface NewThing {
  readonly thingId: string
  /** Sent only in this answer. */
  readonly thingToken: string
}

interface NewToken {
  readonly tokenId: string
  /** Sent only in this answer. */
  readonly thingToken: string
}

export interface TokenSummary {
  readonly tokenId: string
  readonly createdAt: string
  /** Whether the token was ever used. */
  readonly used: boolean
}

export interface ActivationCode {
  readonly activationCode: string
  readonly createdAt: string
  readonly usesLeft: number
}

interface SessionTerms {
  readonly things: '*' | readonly string[]
  readonly access: 'read' | 'write'
  /** Seconds. */
  readonly expiresIn: number
}

export interface NewSession {
  readonly sessionId: string
  /** Sent only in this answer. */
  readonly sessionToken: string
  readonly expiresAt: string
}

export interface SessionSummary {
  readonly sessionId: string
  readonly things: '*' | readonly string[]
  readonly access: 'read' | 'write'
  readonly createdAt: string
  readonly expiresAt: string
  readonly mintedBy: 'operator' | 'thing'
}

/** The state of forwarding to the central server. */
export interface Forwarding {
  readonly target: string
  readonly connected: boolean
  /** Why the central server cannot be reached. */
  readonly problem?: string
  /** Why a changed thing map is not used. */
  readonly mapProblem?: string
  readonly waiting: {
    readonly records: number
    readonly bytes: number
    /** False while the records that waited before the start are still being counted. */
    readonly counted: boolean
    readonly oldest?: string
  }
  readonly forwarded: { readonly records: number; readonly bytes: number }
  readonly refusedRecords: number
  readonly droppedRecords: number
  readonly held: readonly { readonly thingId: string; readonly why: string; readonly since: string }[]
  /** The newest refused records. */
  readonly refused: readonly {
    readonly thingId: string
    readonly key: string
    readonly datetime: string
    readonly reason: string
    readonly message: string
  }[]
  /** Ids in the thing map that no thing of the server has. */
  readonly unknownThings: readonly string[]
}

interface SessionsPage {
  readonly sessions: readonly SessionSummary[]
  /** The cursor of the next page. */
  readonly next?: string
}

/**
 * A page of all things. The server searches 1,000 things per request; a page without a match is skipped.
 */
export async function listThings(api: Api, query: ThingsQuery, signal?: AbortSignal): Promise<ThingsPage> {
  let cursor = query.cursor
  for (;;) {
    const page = await api.get<ThingsPage>(pathWith('/v2/admin/things', { ...query, cursor }), signal)
    if (page.things.length > 0 || page.next === undefined) return page
    cursor = page.next
  }
}

export function createThing(api: Api, name: string): Promise<NewThing> {
  return api.send('POST', '/v2/admin/things', name === '' ? {} : { name })
}

export function renameThing(api: Api, thingId: string, name: string): Promise<void> {
  return api.send('PATCH', `/v2/admin/things/${thingId}`, { name })
}

/** The thing's tokens become invalid immediately. Its records are removed in the background. */
export function removeThing(api: Api, thingId: string): Promise<void> {
  return api.send('DELETE', `/v2/admin/things/${thingId}`)
}

export async function listTokens(api: Api, thingId: string): Promise<readonly TokenSummary[]> {
  const path = `/v2/admin/things/${thingId}/tokens`
  return (await api.get<{ readonly tokens: readonly TokenSummary[] }>(path)).tokens
}

export function addToken(api: Api, thingId: string): Promise<NewToken> {
  return api.send('POST', `/v2/admin/things/${thingId}/tokens`, {})
}

export function removeToken(api: Api, thingId: string, tokenId: string): Promise<void> {
  return api.send('DELETE', `/v2/admin/things/${thingId}/tokens/${tokenId}`)
}

export async function listActivationCodes(api: Api): Promise<readonly ActivationCode[]> {
  const path = '/v2/admin/activation-codes'
  return (await api.get<{ readonly activationCodes: readonly ActivationCode[] }>(path)).activationCodes
}

export async function createActivationCodes(
  api: Api,
  wanted: { readonly count: number; readonly uses: number },
): Promise<readonly string[]> {
  const path = '/v2/admin/activation-codes'
  return (await api.send<{ readonly activationCodes: readonly string[] }>('POST', path, wanted))
    .activationCodes
}

export function removeActivationCode(api: Api, activationCode: string): Promise<void> {
  return api.send('DELETE', `/v2/admin/activation-codes/${activationCode}`)
}

export function listSessions(api: Api, cursor?: string): Promise<SessionsPage> {
  return api.get(pathWith('/v2/admin/sessions', { limit: 50, cursor }))
}

export function createSession(api: Api, terms: SessionTerms): Promise<NewSession> {
  return api.send('POST', '/v2/admin/sessions', terms)
}

export function removeSession(api: Api, sessionId: string): Promise<void> {
  return api.send('DELETE', `/v2/admin/sessions/${sessionId}`)
}

/** Empty if records are not forwarded. */
export async function readForwarding(api: Api): Promise<readonly Forwarding[]> {
  const path = '/v2/admin/forward?limit=10'
  const answer = await api.get<Forwarding | { readonly target: null }>(path)
  return answer.target === null ? [] : [answer]
}

function pathWith(path: string, parameters: object): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
