import { z } from 'zod'
import type { Parameter } from './operation.ts'
import { sentDatetime } from './shapes.ts'

const exampleThingId = 'mzxw6ytboi4dcmjs'

export const ref: Parameter = {
  name: 'ref',
  in: 'path',
  description:
    'The thing: its token, which is then the credential (an Authorization is ignored), or its id, with an Authorization ' +
    'that is for the thing.',
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
  description: 'The resource; `$geo`, `$settings` and `$settings.<path>` are magic.',
  schema: z.string(),
  example: 'temperature',
}

export const startDate: Parameter = {
  name: 'startDate',
  in: 'query',
  description: 'From this time on.',
  schema: sentDatetime,
  example: '20261121093000',
}
export const endDate: Parameter = {
  name: 'endDate',
  in: 'query',
  description: 'Up to this time, which is left out.',
  schema: sentDatetime,
  example: '2026-11-21T10:00:00Z',
}

/** @param maximum larger ones are clamped */
export function limit(what: string, fallback: number | string, maximum: number | undefined): Parameter {
  const clamped = maximum === undefined ? '' : `; more than ${maximum} is taken for ${maximum}`
  return {
    name: 'limit',
    in: 'query',
    description: `Most ${what}. Default ${fallback}${clamped}.`,
    schema: z.int().min(1),
    example: 10,
  }
}

/** @param from what gave it @param example one that is taken */
export function cursor(from: string, example: string): Parameter {
  return {
    name: 'cursor',
    in: 'query',
    description: `Where to go on: ${from}.`,
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
