import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ThingQuery, ThingSummary } from '../access/access.ts'
import { formatDatetime } from '../core/datetime.ts'
import { ThingwireError } from '../errors.ts'
import { Query } from './query.ts'
import { replyJson } from './reply-json.ts'
import { jsonBodyOf } from './request-body.ts'
import type { HttpThings } from './things.ts'

const defaultThings = 100

const thingName = z.string('must be a string').max(200, 'must be at most 200 characters')
const object = 'the body must be a JSON object'
const createBody = z.object({ name: thingName.optional() }, object)
const renameBody = z.object({ name: thingName }, object)

interface OfAdminThing {
  Params: { thingId: string }
}

/** `/v2/admin/things[/<id>]`. */
export function adminThingRoutes(scope: FastifyInstance, { registry }: HttpThings, bodyLimit: number): void {
  scope.post('/things', async (request, reply) => {
    const { name } = jsonBodyOf(request, bodyLimit, createBody)
    const { thingId, thingToken } = await registry.create(name === undefined ? {} : { name })
    return replyJson(reply, 201, JSON.stringify({ status: 'created', thingId, thingToken }))
  })

  scope.get('/things', async (request, reply) => {
    const { things, next } = await registry.list(thingQuery(new Query(request)))
    return replyJson(reply, 200, JSON.stringify({ things: things.map(describe), next }))
  })

  scope.patch<OfAdminThing>('/things/:thingId', async (request, reply) => {
    const { name } = jsonBodyOf(request, bodyLimit, renameBody)
    await registry.rename(request.params.thingId, name)
    return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
  })

  scope.delete<OfAdminThing>('/things/:thingId', async (request, reply) => {
    await registry.remove(request.params.thingId)
    return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
  })
}

function describe({ thingId, name, createdAt, lastSeen, position }: ThingSummary) {
  return {
    thingId,
    name,
    createdAt: formatDatetime(createdAt),
    lastSeen: lastSeen === undefined ? null : formatDatetime(lastSeen),
    position,
  }
}

function thingQuery(query: Query): ThingQuery {
  const cursor = query.text('cursor', 'invalid_cursor')
  const name = query.text('name')
  const bbox = query.text('bbox')
  return {
    limit: query.limit(defaultThings),
    ...(cursor === undefined ? {} : { cursor }),
    ...(name === undefined ? {} : { name }),
    ...(bbox === undefined ? {} : { bbox: parseBox(bbox) }),
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
