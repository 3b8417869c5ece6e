import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { pathParameter, thingIdParameter } from '../operation/parameters.ts'
import { ofAdmin } from '../operation/refusals.ts'
import { datetime, success, thingToken } from '../operation/shapes.ts'
import { jsonRoute } from '../reply/json-route.ts'

const tokenExample = 'c29tZXRoaW5nLXRoYXQtaXMtbm8tcmVhbC10b2tlbi4'
const done = json('Done.', success, { status: 'success' })

const tokenId = pathParameter('tokenId', 'The public id of the token.', 'Zx1pQ9bA')

export const addToken: Operation = {
  id: 'addToken',
  group: 'Credentials',
  summary: 'Add a token to a thing',
  description:
    'A thing has at most ten tokens. To replace one, add a token, give it to the device, and end the old one.',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: {
    201: json('The token is shown only once.', z.object({ thingToken, tokenId: z.string() }), {
      thingToken: tokenExample,
      tokenId: tokenId.example,
    }),
  },
  refusals: [...ofAdmin, 'unknown_thing', 'too_many_tokens'],
}

export const listTokens: Operation = {
  id: 'listTokens',
  group: 'Credentials',
  summary: 'List the tokens of a thing',
  credential: 'admin',
  parameters: [thingIdParameter],
  answers: {
    200: json(
      'The ids of the tokens, without the secrets.',
      z.object({
        tokens: z.array(z.object({ tokenId: z.string(), createdAt: datetime, used: z.boolean() })),
      }),
      { tokens: [{ tokenId: tokenId.example, createdAt: '2026-11-20T08:00:00.000Z', used: true }] },
    ),
  },
  refusals: [...ofAdmin, 'unknown_thing'],
}

export const endToken: Operation = {
  id: 'endToken',
  group: 'Credentials',
  summary: 'End a token of a thing',
  description: 'Its connections close within a second, and the sessions that it minted end.',
  credential: 'admin',
  parameters: [thingIdParameter, tokenId],
  answers: { 200: done },
  refusals: [...ofAdmin, 'unknown_thing', 'not_found'],
}

interface OfAdminThing {
  Params: { thingId: string }
}

interface OfToken {
  Params: { thingId: string; tokenId: string }
}

/** `/v2/admin/things/<id>/tokens[/<tokenId>]`: rotation of a thing's tokens. */
export function adminTokenRoutes(scope: FastifyInstance, { registry }: HttpThings): void {
  jsonRoute<OfAdminThing>(scope, 'POST', '/things/:thingId/tokens', addToken, async ({ params }) => {
    const { thingToken, tokenId } = await registry.addToken(params.thingId)
    return { thingToken, tokenId }
  })

  jsonRoute<OfAdminThing>(scope, 'GET', '/things/:thingId/tokens', listTokens, async ({ params }) => {
    const list = await registry.tokens(params.thingId)
    const tokens = list.map(({ tokenId, createdAt, used }) => ({
      tokenId,
      createdAt: formatDatetime(createdAt),
      used,
    }))
    return { tokens }
  })

  jsonRoute<OfToken>(scope, 'DELETE', '/things/:thingId/tokens/:tokenId', endToken, async ({ params }) => {
    await registry.removeToken(params.thingId, params.tokenId)
    return { status: 'success' }
  })
}
