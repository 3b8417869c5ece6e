import { z } from 'zod'
import { json, type Operation } from '../operation/operation.ts'
import { pathParameter } from '../operation/parameters.ts'
import { ofAdmin, ofBody } from '../operation/refusals.ts'
import { datetime, success } from '../operation/shapes.ts'

export const activationCodesBody = z.strictObject(
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

/** 1 to `maximum`; 1 unless given. */
function wholeNumber(maximum: number) {
  const rule = `must be a whole number from 1 to ${maximum}`
  return z.int(rule).min(1, rule).max(maximum, rule).default(1)
}
