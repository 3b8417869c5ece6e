import type { DocumentStore, RecordStore } from '../../core/ports.ts'
import { isThingId } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { ThingQuery, ThingRegistry, ThingSummary } from '../access.ts'
import { type ThingDocument, thingName, thingPrefix } from '../documents.ts'
import type { LastSeen } from './last-seen.ts'

/** Maximum number of things that are examined for a page, however few pass the filters. */
const thingsPerPage = 1_000
const readsAtOnce = 50

type Position = NonNullable<ThingSummary['position']>
type Box = NonNullable<ThingQuery['bbox']>

interface Candidate {
  readonly thingId: string
  /** undefined if there is no thing with this id. */
  readonly thing: ThingDocument | undefined
}

export function createThingList(
  documents: DocumentStore,
  records: RecordStore,
  lastSeen: LastSeen,
): ThingRegistry['list'] {
  return async ({ limit, cursor, among, sourceId, name = '', bbox }) => {
    if (cursor !== undefined && !isThingId(cursor)) throw new ThingwireError('invalid_cursor')
    const looked = name === '' && bbox === undefined && sourceId === undefined ? limit : thingsPerPage
    const found = await (among ? findAmong(among, looked + 1, cursor) : findAll(looked + 1, cursor))
    const candidates = found.slice(0, looked)
    const named = candidates.flatMap(({ thingId, thing }) => {
      if (sourceId !== undefined && thing?.source?.sourceId !== sourceId) return []
      return thing?.name.toLowerCase().includes(name.toLowerCase()) ? [{ thingId, thing }] : []
    })
    const things: ThingSummary[] = []
    for (let start = 0; start < named.length; start += readsAtOnce) {
      const part = named.slice(start, start + readsAtOnce)
      const summaries = await Promise.all(part.map(({ thingId, thing }) => summarise(thingId, thing)))
      things.push(...summaries.filter(({ position }) => !bbox || (position && isInside(position, bbox))))
      if (things.length > limit) break
    }
    const page = things.slice(0, limit)
    if (things.length > limit) return withNext(page, page.at(-1))
    return found.length > looked ? withNext(page, candidates.at(-1)) : { things: page }
  }

  async function findAll(limit: number, cursor = ''): Promise<readonly Candidate[]> {
    const found = await documents.list(thingPrefix, { after: thingName(cursor), limit })
    return found.map(([name, document]) => ({
      thingId: name.slice(thingPrefix.length),
      thing: document as ThingDocument,
    }))
  }

  async function findAmong(among: ReadonlySet<string>, limit: number, cursor = '') {
    const ids = [...among].filter(thingId => thingId > cursor).sort()
    const found: Candidate[] = []
    for (let start = 0; start < Math.min(ids.length, limit); start += readsAtOnce) {
      const part = ids.slice(start, Math.min(start + readsAtOnce, limit))
      const documentsOfPart = await Promise.all(part.map(thingId => documents.get(thingName(thingId))))
      for (const [place, thingId] of part.entries())
        found.push({ thingId, thing: documentsOfPart[place] as ThingDocument | undefined })
    }
    return found
  }

  async function summarise(
    thingId: string,
    { name, createdAt, topics, source }: ThingDocument,
  ): Promise<ThingSummary> {
    const [{ at, written }, position] = await Promise.all([lastSeen.read(thingId), positionOf(thingId)])
    return {
      thingId,
      name,
      createdAt,
      lastSeen: at,
      lastWrite: written,
      ...(position ? { position } : {}),
      ...(topics ? { topics } : {}),
      ...(source ? { source } : {}),
    }
  }

  async function positionOf(thingId: string): Promise<Position | undefined> {
    const state = await records.state(thingId, '$geo')
    if (!state) return undefined
    const point = JSON.parse(state.value) as { coordinates: readonly [long: number, lat: number] }
    const [long, lat] = point.coordinates
    return { lat, long }
  }
}

function withNext(things: readonly ThingSummary[], last: { readonly thingId: string } | undefined) {
  return last ? { things, next: last.thingId } : { things }
}

function isInside({ lat, long }: Position, { west, south, east, north }: Box): boolean {
  if (lat < south || lat > north) return false
  return west <= east ? long >= west && long <= east : long >= west || long <= east
}
