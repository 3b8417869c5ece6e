import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDatetime } from '../core/datetime.ts'
import { replyJson } from './reply-json.ts'
import { jsonBodyOf } from './request-body.ts'
import type { HttpThings } from './things.ts'

const codesBody = z.object(
  { count: wholeNumber(1000), uses: wholeNumber(1_000_000) },
  'the body must be a JSON object',
)

interface OfCode {
  Params: { code: string }
}

/** `/v2/admin/activation-codes[/<code>]`. */
export function adminActivationCodeRoutes(
  scope: FastifyInstance,
  { activationCodes }: HttpThings,
  bodyLimit: number,
): void {
  scope.post('/activation-codes', async (request, reply) => {
    const codes = await activationCodes.create(jsonBodyOf(request, bodyLimit, codesBody))
    return replyJson(reply, 201, JSON.stringify({ activationCodes: codes }))
  })

  scope.get('/activation-codes', async (_request, reply) => {
    const list = await activationCodes.list()
    const codes = list.map(({ activationCode, createdAt, usesLeft }) => ({
      activationCode,
      createdAt: formatDatetime(createdAt),
      usesLeft,
    }))
    return replyJson(reply, 200, JSON.stringify({ activationCodes: codes }))
  })

  scope.delete<OfCode>('/activation-codes/:code', async (request, reply) => {
    await activationCodes.remove(request.params.code)
    return replyJson(reply, 200, JSON.stringify({ status: 'success' }))
  })
}

/** 1 to `maximum`; 1 unless given. */
function wholeNumber(maximum: number) {
  const rule = `must be a whole number from 1 to ${maximum}`
  return z.int(rule).min(1, rule).max(maximum, rule).default(1)
}
