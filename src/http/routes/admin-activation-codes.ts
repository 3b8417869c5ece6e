import type { FastifyInstance } from 'fastify'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
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
  jsonRoute(scope, 'POST', '/activation-codes', createActivationCodes, async request => {
    const codes = await activationCodes.create(jsonBodyOf(request, bodyLimit, activationCodesBody))
    return { activationCodes: codes }
  })

  jsonRoute(scope, 'GET', '/activation-codes', listActivationCodes, async () => {
    const list = await activationCodes.list()
    const codes = list.map(({ activationCode, createdAt, usesLeft }) => ({
      activationCode,
      createdAt: formatDatetime(createdAt),
      usesLeft,
    }))
    return { activationCodes: codes }
  })

  jsonRoute<OfCode>(scope, 'DELETE', '/activation-codes/:code', removeActivationCode, async ({ params }) => {
    await activationCodes.remove(params.code)
    return { status: 'success' }
  })
}
