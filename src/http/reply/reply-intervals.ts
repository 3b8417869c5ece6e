import type { FastifyReply } from 'fastify'
import type { AggregateAnswer } from '../reading/aggregate.ts'
import type { Query } from '../request/query.ts'
import { replyLongJson } from './reply-json.ts'

/** Length of the intervals, where the server chose it. Not a member of the body, which is an array, or has a member per key. */
export const intervalHeader = 'Thingwire-Interval'

/** @param parts of the JSON text of the intervals */
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

/**
 * Says where the next page is: the same query with other parameters. Relative, since a proxy may have put the server under a
 * prefix that it does not know.
 *
 * @param parameters undefined: without this one
 */
export function linkNext(
  reply: FastifyReply,
  query: Query,
  parameters: Readonly<Record<string, string | undefined>>,
): void {
  reply.header('link', `<?${query.with(parameters)}>; rel="next"`)
}
