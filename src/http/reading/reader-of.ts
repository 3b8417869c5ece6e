import type { FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'

/** Returns the principal name under which a costly read waits its turn (contract §9). @throws ThingwireError, as `identify` does */
export async function readerOf(
  access: Access,
  request: FastifyRequest<OfThing>,
  thingId: string,
): Promise<string> {
  // If `ref` is not the thing id, it is a thing token, which is also the credential.
  if (request.params.ref !== thingId) return principalName({ kind: 'thing', thingId })
  return principalName(await access.identify(credentialOf(request)))
}
