import type { ThingQuery, ThingRegistry, ThingSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { ThingwireError } from '../../errors.ts'
import type { Query } from '../request/query.ts'

const defaultThings = 100

/**
 * A page of things for `GET /v2/admin/things` and `GET /v2/things` (contract §6).
 *
 * @param query may have `limit`, `cursor`, `name`, `bbox` and `source`
 * @param among ids of the visible things; undefined if all are visible
 * @throws ThingwireError invalid_query, invalid_limit, invalid_cursor
 */
export async function thingPage(
  registry: Pick<ThingRegistry, 'list'>,
  query: Query,
  among?: ReadonlySet<string>,
): Promise<object> {
  const { things, next } = await registry.list({ ...thingQuery(query), ...(among ? { among } : {}) })
  return { things: things.map(describe), next }
}

function describe({ thingId, name, createdAt, lastSeen, lastWrite, position, topics, source }: ThingSummary) {
  return {
    thingId,
    name,
    createdAt: formatDatetime(createdAt),
    lastSeen: lastSeen === undefined ? null : formatDatetime(lastSeen),
    lastWrite: lastWrite === undefined ? undefined : formatDatetime(lastWrite),
    position,
    topics,
    source,
  }
}

function thingQuery(query: Query): ThingQuery {
  const cursor = query.text('cursor', 'invalid_cursor')
  const name = query.text('name')
  const bbox = query.text('bbox')
  const sourceId = query.text('source')
  return {
    limit: query.limit(defaultThings),
    ...(cursor === undefined ? {} : { cursor }),
    ...(name === undefined ? {} : { name }),
    ...(bbox === undefined ? {} : { bbox: parseBox(bbox) }),
    ...(sourceId === undefined ? {} : { sourceId }),
  }
}

function parseBox(text: string) {
  const numbers = text
    .split(',')
    .map(part => (/^-?\d+(\.\d+)?$/.test(part.trim()) ? Number(part) : Number.NaN))
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = numbers
  const onGlobe = Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90
  if (numbers.length !== 4 || !onGlobe || !(south <= north)) {
    const message = 'bbox must be west,south,east,north in degrees, with south not above north'
    throw new ThingwireError('invalid_query', message)
  }
  return { west, south, east, north }
}
