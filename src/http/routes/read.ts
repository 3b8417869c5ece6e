import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { PageQuery } from '../../core/ports.ts'
import { arrayParts, arrayText, recordText } from '../../core/record/record-text.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { chosenInterval, intervalSummary, intervals, ofIntervals } from '../operation/intervals.ts'
import { linkToNext, type Operation } from '../operation/operation.ts'
import { cursor, endDate, key, limit, order, ref, startDate } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { givenRecord } from '../operation/shapes.ts'
import { aggregate } from '../reading/aggregate.ts'
import { aggregateQueryOf, hasFewIntervals } from '../reading/aggregate-query.ts'
import { exportFormats, exportText } from '../reading/export.ts'
import { createReads } from '../reading/magic-states.ts'
import { shortPage } from '../reading/pages.ts'
import { readerOf } from '../reading/reader-of.ts'
import { intervalHeader, linkNext, replyIntervals } from '../reply/reply-intervals.ts'
import { replyJson } from '../reply/reply-json.ts'
import { replyStream } from '../reply/reply-stream.ts'
import { acceptedType } from '../request/accepted.ts'
import { credentialOf } from '../request/credential.ts'
import { type OfResource, resourceKey } from '../request/paths.ts'
import { Query } from '../request/query.ts'

const record = { key: 'temperature', value: 21.5, datetime: '2026-11-21T09:30:00.000Z' }

export const readResource: Operation = {
  id: 'readResource',
  group: 'Resources',
  summary: 'Read the records of a resource',
  description:
    'Newest first; one record unless `limit` asks for more. `aggregate` with `interval` gives a summary of each interval with ' +
    'records, `points` one of each column of a chart. `Accept: text/csv` or `application/x-ndjson` streams the whole range. A magic resource gives its state; ' +
    'with a range, `order=asc` or a `limit` over 1 it gives the records that were written to it.',
  credential: 'thing',
  parameters: [
    ref,
    key,
    limit('records, or intervals', '1, 1,000 intervals, all of an export', 1000),
    startDate,
    endDate,
    order,
    cursor('the opaque text in the `Link` of the page before', 'an-opaque-text'),
    ...intervals,
  ],
  answers: {
    200: {
      description: 'Records, or summaries of intervals; an empty array if the range is empty.',
      content: {
        'application/json': {
          schema: z.union([z.array(givenRecord), z.array(intervalSummary)]),
          example: [record],
        },
        'text/csv': {
          schema: z.string(),
          example: 'datetime,value,lat,long\r\n2026-11-21T09:30:00.000Z,21.5,,\r\n',
        },
        'application/x-ndjson': { schema: z.string(), example: `${JSON.stringify(record)}\n` },
      },
      headers: { Link: linkToNext, [intervalHeader]: chosenInterval },
    },
  },
  refusals: [
    ...ofThing,
    'invalid_query',
    'invalid_limit',
    'invalid_cursor',
    'invalid_range',
    ...ofIntervals,
    'unknown_resource',
  ],
}

/** `GET /v2/things/<ref>/resources/<key>`: a page of records or intervals as JSON, or the whole range as CSV or NDJSON. */
export function readRoute(scope: FastifyInstance, { access, records, magic, costlyReads }: HttpThings): void {
  const { history, page: readPage } = createReads(records, magic)
  scope.get<OfResource>(
    '/things/:ref/resources/:key',
    { config: { operation: readResource } },
    async (request, reply) => {
      const { ref } = request.params
      const thingId = await access.authorise(ref, credentialOf(request), 'read')
      const key = resourceKey(request.params)
      const query = new Query(request)

      const asked = await aggregateQueryOf(query, 1)
      refuseStrays(query, asked !== undefined)
      if (asked) {
        const read = () => aggregate(history, thingId, [key], asked)
        const isShort = hasFewIntervals(asked)
        const answer = await (isShort
          ? read()
          : costlyReads.run(await readerOf(access, request, thingId), read))
        return await replyIntervals(reply, query, answer, arrayParts(answer.series.get(key) ?? []))
      }

      const type = acceptedType(request, reply, ['application/json', 'text/csv', 'application/x-ndjson'])
      if (type !== 'application/json') {
        const format = exportFormats[type]
        const text = exportText(format, history, thingId, key, exportQuery(query))
        const chunks = costlyReads.stream(await readerOf(access, request, thingId), text)
        return await replyStream(request, reply, { 'content-type': format.contentType }, chunks)
      }

      const asking = pageQuery(query)
      const read = () => readPage(thingId, key, asking)
      const isShort = asking.limit <= shortPage
      const page = await (isShort ? read() : costlyReads.run(await readerOf(access, request, thingId), read))
      if (!page) throw new ThingwireError('unknown_resource')
      if (page.next !== undefined) linkNext(reply, query, { cursor: page.next })
      return replyJson(reply, 200, arrayText(page.records.map(recordText)))
    },
  )
}

/** Refuses parameters that would be ignored. @throws ThingwireError invalid_query */
function refuseStrays(query: Query, hasIntervals: boolean): void {
  const strays = hasIntervals ? strayOfIntervals : strayOfRecords
  for (const [name, why] of strays) if (query.has(name)) throw new ThingwireError('invalid_query', why)
}

const strayOfIntervals = [['cursor', 'cursor is for records, not for intervals']] as const
const strayOfRecords = [
  ['interval', 'interval needs aggregate'],
  ['tz', 'tz needs aggregate or points'],
  ['empty', 'empty needs aggregate or points'],
] as const

function pageQuery(query: Query): PageQuery {
  return { ...walkQuery(query), limit: query.limit(1) }
}

function exportQuery(query: Query) {
  const limit = query.limit(undefined, Number.POSITIVE_INFINITY)
  return limit === undefined ? walkQuery(query) : { ...walkQuery(query), limit }
}

function walkQuery(query: Query) {
  const cursor = query.text('cursor', 'invalid_cursor')
  const order = query.oneOf('order', ['desc', 'asc'])
  return { ...query.range(), order, ...(cursor === undefined ? {} : { cursor }) }
}
