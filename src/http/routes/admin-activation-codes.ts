import type { FastifyInstance } from 'fastify'
import type { ActivationCodeSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { replyStream } from '../reply/reply-stream.ts'
import type { JsonBodies } from '../request/json-bodies.ts'
import {
  activationCodesBody,
  createActivationCodes,
  listActivationCodes,
  removeActivationCode,
} from './admin-activation-codes.operation.ts'

/** There may be hundreds of thousands. */
const codesAtOnce = 1_000
const head = '{"activationCodes":['

interface OfCode {
  Params: { code: string }
}

/** `/v2/admin/activation-codes[/<code>]`. */
export function adminActivationCodeRoutes(
  scope: FastifyInstance,
  { activationCodes, costlyReads }: HttpThings,
  bodies: JsonBodies,
): void {
  jsonRoute(scope, 'POST', '/activation-codes', createActivationCodes, async request => {
    const codes = await activationCodes.create(bodies.read(request, activationCodesBody))
    return { activationCodes: codes }
  })

  scope.get('/activation-codes', { config: { operation: listActivationCodes } }, async (request, reply) => {
    const text = costlyReads.stream('admin', listText())
    return await replyStream(request, reply, { 'content-type': 'application/json' }, text)
  })

  async function* listText(): AsyncGenerator<string> {
    const all = await activationCodes.list()
    for (let from = 0; from < all.length; from += codesAtOnce)
      yield (from === 0 ? head : ',') +
        all
          .slice(from, from + codesAtOnce)
          .map(codeText)
          .join()
    yield all.length === 0 ? `${head}]}` : ']}'
  }

  jsonRoute<OfCode>(scope, 'DELETE', '/activation-codes/:code', removeActivationCode, async ({ params }) => {
    await activationCodes.remove(params.code)
    return { status: 'success' }
  })
}

function codeText({ activationCode, createdAt, usesLeft }: ActivationCodeSummary): string {
  return JSON.stringify({ activationCode, createdAt: formatDatetime(createdAt), usesLeft })
}
