import type { RefusedWrite } from '../thing/refused-write.ts'
import type { Api } from './http.ts'

/** Requests for sources, credentials that write for many devices (`/v2/admin/sources`). Every function throws `ApiError`. */

export interface SourceTerms {
  readonly formats: readonly string[]
  readonly pattern?: string
  /** Filters of topics. */
  readonly topics?: readonly string[]
}

export interface NewSource {
  readonly sourceId: string
  /** Sent only in this answer. */
  readonly sourceToken: string
}

export interface SourceSummary extends Required<Omit<SourceTerms, 'pattern'>> {
  readonly sourceId: string
  readonly name: string
  readonly pattern?: string
  /** RFC 3339. */
  readonly createdAt: string
}

/** @param terms `overlap`: whether the topics may overlap those of other sources */
export function createSource(
  api: Api,
  terms: SourceTerms & { readonly name: string; readonly overlap: boolean },
): Promise<NewSource> {
  return api.send('POST', '/v2/admin/sources', terms)
}

export async function listSources(api: Api): Promise<readonly SourceSummary[]> {
  return (await api.get<{ readonly sources: readonly SourceSummary[] }>('/v2/admin/sources')).sources
}

/** The source's token becomes invalid immediately. Its things and their readings stay. */
export function removeSource(api: Api, sourceId: string): Promise<void> {
  return api.send('DELETE', `/v2/admin/sources/${sourceId}`)
}

/** The newest messages that could not be read or stored, newest first. */
export function listUnread(api: Api, sourceId: string, limit: number): Promise<readonly RefusedWrite[]> {
  return api.get(`/v2/admin/sources/${sourceId}/errors?limit=${limit}`)
}
