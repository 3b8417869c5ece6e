import type { Api } from '../api/http.ts'
import { fetchThings, type ThingSummary } from '../api/things.ts'

/** More are not read: each thousand is a request. */
const mostThings = 10_000
const thingsPerRequest = 1_000

export interface AllThings {
  /** By name, in the order in which people look for it. */
  readonly things: readonly ThingSummary[]
  /** False: there are more than are read. */
  readonly isAll: boolean
}

/**
 * The things that the principal may see. The server pages by id, which nobody looks for: only who has all can sort them.
 *
 * @param name part of the name, in any case; empty for all @throws ApiError
 */
export async function fetchAllThings(api: Api, name: string, signal: AbortSignal): Promise<AllThings> {
  const things: ThingSummary[] = []
  let cursor: string | undefined
  do {
    const query = { limit: thingsPerRequest, ...(name && { name }), ...(cursor !== undefined && { cursor }) }
    const page = await fetchThings(api, query, signal)
    things.push(...page.things)
    cursor = page.next
  } while (cursor !== undefined && things.length < mostThings)
  return { things: things.sort((one, other) => inOrder(one.name, other.name)), isAll: cursor === undefined }
}

const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true })
