import type { DocumentStore, RecordStore } from '../core/ports.ts'
import { isThingId } from '../core/token.ts'
import { ThingwireError } from '../errors.ts'
import type { ThingQuery, ThingRegistry, ThingSummary } from './access.ts'
import { type ThingDocument, thingName, thingPrefix } from './documents.ts'
import type { LastSeen } from './last-seen.ts'

/** How many things a page looks at, however few of them pass the filters: what bounds the work it costs. */
const thingsPerPage = 1_000
const readsAtOnce = 50

export interface ThingListParts {
  readonly documents: DocumentStore
  readonly records: RecordStore
  readonly lastSeen: LastSeen
}

type Position = NonNullable<ThingSummary['position']>
type Box = NonNullable<ThingQuery['bbox']>

export function createThingList({ documents, records, lastSeen }: ThingListParts): ThingRegistry['list'] {
  return async ({ limit, cursor, name = '', bbox }) => {
    if (cursor !== undefined && !isThingId(cursor)) throw new ThingwireError('invalid_cursor')
    const looked = name === '' && bbox === undefined ? limit : thingsPerPage
    const found = await documents.list(thingPrefix, { after: thingName(cursor ?? ''), limit: looked + 1 })
    const candidates = found.slice(0, looked).map(([name, document]) => ({
      thingId: name.slice(thingPrefix.length),
      thing: document as ThingDocument,
    }))
    const named = candidates.filter(({ thing }) => thing.name.toLowerCase().includes(name.toLowerCase()))
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

  async function summarise(thingId: string, { name, createdAt }: ThingDocument): Promise<ThingSummary> {
    const [seen, position] = await Promise.all([lastSeen.read(thingId), positionOf(thingId)])
    return { thingId, name, createdAt, lastSeen: seen, ...(position ? { position } : {}) }
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
