import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Principal } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import { ThingwireError } from '../../errors.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { ofCredential } from '../operation/refusals.ts'
import { datetime, thingId } from '../operation/shapes.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { credentialOf } from '../request/credential.ts'

const principal = z.union([
  z.object({ kind: z.literal('thing'), thingId, name: z.string() }),
  z.object({
    kind: z.literal('session'),
    sessionId: z.string(),
    access: z.enum(['read', 'write']),
    things: z.union([z.literal('*'), z.array(thingId)]),
    isOperators: z.boolean(),
    expiresAt: datetime,
  }),
  z.object({
    kind: z.literal('source'),
    sourceId: z.string(),
    name: z.string(),
    formats: z.array(z.string()),
    topics: z.array(z.string()),
  }),
  // `topics` lists the filters in the server's `topics` option and of all sources.
  z.object({ kind: z.literal('admin'), topics: z.array(z.string()).optional() }),
])

export const readPrincipal: Operation = {
  id: 'readPrincipal',
  group: 'Credentials',
  summary: 'Read the kind and rights of the credential',
  credential: 'any',
  answers: {
    200: json('A thing, a session, a source, or the operator.', principal, {
      kind: 'thing',
      thingId: 'mzxw6ytboi4dcmjs',
      name: 'boat',
    }),
  },
  refusals: ofCredential,
}

/** `GET /v2/principal`: the principal and the rights of the credential. */
export function principalRoute(scope: FastifyInstance, { access, registry, sources }: HttpThings): void {
  jsonRoute(scope, 'GET', '/principal', readPrincipal, async request => {
    return await describe(await access.identify(credentialOf(request)))
  })

  async function servedTopics(admin: Principal): Promise<{ readonly topics?: readonly string[] }> {
    const grants = await access.topicsOf(admin)
    return grants.length > 0 ? { topics: [...new Set(grants.map(({ filter }) => filter))] } : {}
  }

  async function describe(principal: Principal): Promise<object> {
    switch (principal.kind) {
      case 'admin':
        return { kind: 'admin', ...(await servedTopics(principal)) }
      case 'source': {
        const { sourceId, name, formats, topics } = await sources.get(principal.sourceId)
        return { kind: 'source', sourceId, name, formats, topics }
      }
      case 'thing': {
        const { thingId } = principal
        const { things } = await registry.list({ limit: 1, among: new Set([thingId]) })
        // The thing was removed after its token was looked up.
        if (!things[0]) throw new ThingwireError('invalid_session')
        return { kind: 'thing', thingId, name: things[0].name }
      }
      case 'session': {
        const { kind, sessionId, access, things, isOperators, expiresAt } = principal
        return {
          kind,
          sessionId,
          access,
          things: things === '*' ? things : [...things],
          isOperators,
          expiresAt: formatDatetime(expiresAt),
        }
      }
    }
  }
}
