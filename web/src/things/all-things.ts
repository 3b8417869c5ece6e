import type { Api } from '../api/http.ts'
import { fetchThings, type ThingSummary, type ThingsQuery } from '../api/things.ts'

/** Maximum number of things that are read, because each thousand takes a request. */
const mostThings = 10_000
const thingsPerRequest = 1_000

export interface AllThings {
  /** Sorted by name, in the order that users expect. */
  readonly things: readonly ThingSummary[]
  /** False if there are more things than were read. */
  readonly isAll: boolean
}

/**
 * The things that the principal may see. The server's pages are ordered by id, so all things have to be read to sort them by name.
 *
 * @throws ApiError
 */
export async function fetchAllThings(
  api: Api,
  { name = '', source }: Pick<ThingsQuery, 'name' | 'source'>,
  signal?: AbortSignal,
): Promise<AllThings> {
  const things: ThingSummary[] = []
  let cursor: string | undefined
  do {
    const query = {
      limit: thingsPerRequest,
      ...(name && { name }),
      ...(source !== undefined && { source }),
      ...(cursor !== undefined && { cursor }),
    }
    const page = await fetchThings(api, query, signal)
    things.push(...page.things)
    cursor = page.next
  } while (cursor !== undefined && things.length < mostThings)
  return { things: things.sort((one, other) => inOrder(one.name, other.name)), isAll: cursor === undefined }
}

const { compare: inOrder } = new Intl.Collator(undefined, { numeric: true })
