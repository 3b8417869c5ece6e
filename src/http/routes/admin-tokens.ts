import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { addToken, endToken, listTokens } from './admin-tokens.operation.ts'

interface OfAdminThing {
  Params: { thingId: string }
}

interface OfToken {
  Params: { thingId: string; tokenId: string }
}

/** `/v2/admin/things/<id>/tokens[/<tokenId>]`: rotation of a thing's tokens. */
export function adminTokenRoutes(scope: FastifyInstance, { registry }: HttpThings): void {
  scope.post<OfAdminThing>(
    '/things/:thingId/tokens',
    { config: { operation: addToken } },
    async (request, reply) => {
      const { thingToken, tokenId } = await registry.addToken(request.params.thingId)
      return replyJson(reply, 201, JSON.stringify({ thingToken, tokenId }))
    },
  )

  scope.get<OfAdminThing>(
    '/things/:thingId/tokens',
    { config: { operation: listTokens } },
    async (request, reply) => {
      const list = await registry.tokens(request.params.thingId)
      const tokens = list.map(({ tokenId, createdAt, used }) => ({
        tokenId,
        createdAt: formatDatetime(createdAt),
        used,
      }))
      return replyJson(reply, 200, JSON.stringify({ tokens }))
    },
  )

  scope.delete<OfToken>(
    '/things/:thingId/tokens/:tokenId',
    { config: { operation: endToken } },
    async (request, reply) => {
      await registry.removeToken(request.params.thingId, request.params.tokenId)
      return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
    },
  )
}
