import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { addToken, endToken, listTokens } from './admin-tokens.operation.ts'

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
