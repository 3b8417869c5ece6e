import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { replyJson } from '../reply/reply-json.ts'
import { jsonBodyOf } from '../request/request-body.ts'
import {
  activationCodesBody,
  createActivationCodes,
  listActivationCodes,
  removeActivationCode,
} from './admin-activation-codes.operation.ts'

interface OfCode {
  Params: { code: string }
}

/** `/v2/admin/activation-codes[/<code>]`. */
export function adminActivationCodeRoutes(
  scope: FastifyInstance,
  { activationCodes }: HttpThings,
  bodyLimit: number,
): void {
  scope.post(
    '/activation-codes',
    { config: { operation: createActivationCodes } },
    async (request, reply) => {
      const codes = await activationCodes.create(jsonBodyOf(request, bodyLimit, activationCodesBody))
      return replyJson(reply, 201, JSON.stringify({ activationCodes: codes }))
    },
  )

  scope.get('/activation-codes', { config: { operation: listActivationCodes } }, async (_request, reply) => {
    const list = await activationCodes.list()
    const codes = list.map(({ activationCode, createdAt, usesLeft }) => ({
      activationCode,
      createdAt: formatDatetime(createdAt),
      usesLeft,
    }))
    return replyJson(reply, 200, JSON.stringify({ activationCodes: codes }))
  })

  scope.delete<OfCode>(
    '/activation-codes/:code',
    { config: { operation: removeActivationCode } },
    async (request, reply) => {
      await activationCodes.remove(request.params.code)
      return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
    },
  )
}
