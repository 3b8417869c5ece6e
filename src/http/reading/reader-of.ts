import type { FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'

/**
 * The principal name under which a costly read waits (contract §9).
 *
 * @param thingId the thing that the request may read
 * @throws ThingwireError as `Access.identify`
 */
export async function readerOf(
  access: Access,
  request: FastifyRequest<OfThing>,
  thingId: string,
): Promise<string> {
  // `ref` is then a thing token, which is the credential.
  if (request.params.ref !== thingId) return principalName({ kind: 'thing', thingId })
  return principalName(await access.identify(credentialOf(request)))
}
