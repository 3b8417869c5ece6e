import type { FastifyReply } from 'fastify'
import type { Query } from '../request/query.ts'

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
