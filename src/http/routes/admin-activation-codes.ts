import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ActivationCodeSummary } from '../../access/access.ts'
import { formatDatetime } from '../../core/record/datetime.ts'
import type { HttpThings } from '../http-things.ts'
import { json, type Operation } from '../operation/operation.ts'
import { pathParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { datetime, success } from '../operation/shapes.ts'
import { jsonRoute } from '../reply/json-route.ts'
import { replyStream } from '../reply/reply-stream.ts'
import type { JsonBodies } from '../request/json-bodies.ts'

const activationCodesBody = z.strictObject(
  { count: wholeNumber(1000), uses: wholeNumber(1_000_000) },
  'the body must be a JSON object',
)

const example = 'Zm9vYmFyLXRoaXMtaXMtbm90LWEtY29kZQ'

export const createActivationCodes: Operation = {
  id: 'createActivationCodes',
  group: 'Credentials',
  summary: 'Create activation codes',
  credential: 'admin',
  body: { schema: activationCodesBody, example: { count: 1, uses: 1 }, optional: true },
  answers: {
    201: json('The codes. They are secrets.', z.object({ activationCodes: z.array(z.string().length(34)) }), {
      activationCodes: [example],
    }),
  },
  refusals: [...ofAdmin, ...ofBody],
}

export const listActivationCodes: Operation = {
  id: 'listActivationCodes',
  group: 'Credentials',
  summary: 'List the activation codes',
  credential: 'admin',
  answers: {
    200: json(
      'Oldest first.',
      z.object({
        activationCodes: z.array(
          z.object({ activationCode: z.string(), createdAt: datetime, usesLeft: z.int().min(0) }),
        ),
      }),
      { activationCodes: [{ activationCode: example, createdAt: '2026-11-20T08:00:00.000Z', usesLeft: 1 }] },
    ),
  },
  refusals: ofAdmin,
}

export const removeActivationCode: Operation = {
  id: 'removeActivationCode',
  group: 'Credentials',
  summary: 'Remove an activation code',
  credential: 'admin',
  parameters: [pathParameter('code', 'The code.', example)],
  answers: { 200: json('Removed.', success, { status: 'success' }) },
  refusals: [...ofAdmin, 'not_found'],
}

/** A whole number from 1 to `maximum`, both inclusive. The default is 1. */
function wholeNumber(maximum: number) {
  const rule = `must be a whole number from 1 to ${maximum}`
  return z.int(rule).min(1, rule).max(maximum, rule).default(1)
}

/** Maximum number of codes in one piece of the answer. The whole answer may contain hundreds of thousands of codes. */
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
