import type { FastifyReply } from 'fastify'
import type { AggregateAnswer } from '../reading/aggregate.ts'
import type { Query } from '../request/query.ts'
import { replyLongJson } from './reply-json.ts'

/** Header with the interval length that the server chose. An array, or an object with a member per key, has no place for it. */
export const intervalHeader = 'Thingwire-Interval'

/** @param parts pieces of the JSON text */
export function replyIntervals(
  reply: FastifyReply,
  query: Query,
  { interval, next }: Pick<AggregateAnswer, 'interval' | 'next'>,
  parts: Iterable<string>,
): Promise<FastifyReply> {
  if (interval !== undefined) reply.header(intervalHeader, interval)
  if (next) linkNext(reply, query, next)
  return replyLongJson(reply, parts)
}

/** Adds a relative `Link` to the next page. @param parameters new values in the query; undefined removes a parameter */
export function linkNext(
  reply: FastifyReply,
  query: Query,
  parameters: Readonly<Record<string, string | undefined>>,
): void {
  reply.header('link', `<?${query.with(parameters)}>; rel="next"`)
}
