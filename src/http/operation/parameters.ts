import { z } from 'zod'
import type { Parameter } from './operation.ts'
import { sentDatetime } from './shapes.ts'

const exampleThingId = 'mzxw6ytboi4dcmjs'

export function pathParameter(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: z.string(), example }
}

/** @param schema default: any text */
export function queryParameter(
  name: string,
  description: string,
  example: string | number,
  schema: z.ZodType = z.string(),
): Parameter {
  return { name, in: 'query', description, schema, example }
}

export const ref = pathParameter(
  'ref',
  'The token of the thing, which is then the credential (an Authorization header is ignored); or its id, with an ' +
    'Authorization header for the thing.',
  exampleThingId,
)
export const thingIdParameter = pathParameter('thingId', 'The thing.', exampleThingId)
export const key = pathParameter(
  'key',
  'The key of the resource; `$geo`, `$settings`, `$settings.<path>` and `$meta` are magic.',
  'temperature',
)

export const startDate = queryParameter('startDate', 'Start of the range.', '20261121093000', sentDatetime)
export const endDate = queryParameter(
  'endDate',
  'End of the range; this time itself is not in it.',
  '2026-11-21T10:00:00Z',
  sentDatetime,
)

export const order = queryParameter(
  'order',
  'Newest first (desc, the default) or oldest first (asc).',
  'asc',
  z.enum(['desc', 'asc']),
)

/** @param maximum a larger value is replaced by the maximum */
export function limit(what: string, fallback: number | string, maximum: number): Parameter {
  const description = `Maximum number of ${what}. Default ${fallback}, maximum ${maximum}.`
  return queryParameter('limit', description, 10, z.int().min(1))
}

/** @param from where a client finds the cursor @param example a valid cursor */
export function cursor(from: string, example: string): Parameter {
  return queryParameter('cursor', `Start of the page: ${from}.`, example)
}

export function flag(name: string, description: string): Parameter {
  const text = `${description} One of true, false, 1, 0, in any case.`
  return queryParameter(name, text, 'true', z.string().regex(/^(true|false|1|0)$/i))
}
