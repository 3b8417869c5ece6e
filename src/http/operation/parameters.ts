import { z } from 'zod'
import type { Parameter } from './operation.ts'
import { sentDatetime } from './shapes.ts'

const exampleThingId = 'mzxw6ytboi4dcmjs'

export const ref: Parameter = {
  name: 'ref',
  in: 'path',
  description:
    'The token of the thing, which is then the credential (an Authorization header is ignored); or its id, with an ' +
    'Authorization header for the thing.',
  schema: z.string(),
  example: exampleThingId,
}
export const thingIdParameter: Parameter = {
  name: 'thingId',
  in: 'path',
  description: 'The thing.',
  schema: z.string(),
  example: exampleThingId,
}
export const key: Parameter = {
  name: 'key',
  in: 'path',
  description: 'The key of the resource; `$geo`, `$settings` and `$settings.<path>` are magic.',
  schema: z.string(),
  example: 'temperature',
}

export const startDate: Parameter = {
  name: 'startDate',
  in: 'query',
  description: 'Start of the range.',
  schema: sentDatetime,
  example: '20261121093000',
}
export const endDate: Parameter = {
  name: 'endDate',
  in: 'query',
  description: 'End of the range; this time itself is not in it.',
  schema: sentDatetime,
  example: '2026-11-21T10:00:00Z',
}

/** @param maximum larger ones are clamped */
export function limit(what: string, fallback: number | string, maximum: number | undefined): Parameter {
  const clamped = maximum === undefined ? '' : `, maximum ${maximum}`
  return {
    name: 'limit',
    in: 'query',
    description: `Maximum number of ${what}. Default ${fallback}${clamped}.`,
    schema: z.int().min(1),
    example: 10,
  }
}

/** @param from what gave it @param example one that is taken */
export function cursor(from: string, example: string): Parameter {
  return {
    name: 'cursor',
    in: 'query',
    description: `Start of the page: ${from}.`,
    schema: z.string(),
    example,
  }
}

export function flag(name: string, description: string): Parameter {
  return {
    name,
    in: 'query',
    description: `${description} One of true, false, 1, 0, in any case.`,
    schema: z.string().regex(/^(true|false|1|0)$/i),
    example: 'true',
  }
}
