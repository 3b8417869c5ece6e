import type { FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'

/**
 * In whose name reads wait that cost much: intervals, whole ranges, long pages, lists (contract §9).
 *
 * @param thingId that the request was allowed to read
 * @returns as `principalName`
 * @throws ThingwireError as `Access.identify`
 */
export async function readerOf(
  access: Access,
  request: FastifyRequest<OfThing>,
  thingId: string,
): Promise<string> {
  // A token in the path is its own credential.
  if (request.params.ref !== thingId) return principalName({ kind: 'thing', thingId })
  return principalName(await access.identify(credentialOf(request)))
}
