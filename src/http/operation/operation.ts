import type { z } from 'zod'
import type { Reason } from '../../errors.ts'

/** What a program sees of a route (contract §6): `/docs` is made of these, and a test holds the routes to them. */
export interface Operation {
  /** Unique among all; a verb and its object, as `readResource`. */
  readonly id: string
  readonly group: 'Things' | 'Resources' | 'Live' | 'Credentials' | 'Operator' | 'Service'
  readonly summary: string
  readonly description?: string
  /** Who may ask. */
  readonly credential: CredentialKind
  readonly parameters?: readonly Parameter[]
  readonly body?: Body
  /** By HTTP status; the first is what success looks like. */
  readonly answers: Readonly<Record<number, Answer>>
  /** What it can be refused with, beside `everywhere` of refusals.ts. */
  readonly refusals: readonly Reason[]
}

/**
 * `thing`: the token in the path, or an Authorization that is for the thing; `stream`: the same, or `?session=`;
 * `any`: an Authorization of whatever kind; `admin`: the admin key; `token`: `?thingToken=`; `none`: nobody is asked.
 */
export type CredentialKind = 'thing' | 'stream' | 'any' | 'admin' | 'token' | 'none'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: z.ZodType
  /** What can be sent as it stands; of a secret or an id, what one looks like. A page to try it on fills in required ones. */
  readonly example: string | number | boolean
  /** Of the query: whether a request without it is refused. Default false. */
  readonly isRequired?: true
}

interface Body {
  readonly schema: z.ZodType
  readonly example: unknown
  /** Whether it may be left out. Default false. */
  readonly optional?: boolean
}

export interface Answer {
  readonly description: string
  /** By media type. */
  readonly content: Readonly<Record<string, Content>>
  /** By name: what it says. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Content {
  readonly schema: z.ZodType
  readonly example: unknown
}

/** Says of a `Link` header what it is. */
export const linkToNext =
  'Address of the next page, if there is one: `<?…>; rel="next"`, relative to that of the request.'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route that is documented. */
    operation?: Operation
  }
}

/** An answer of JSON. */
export function json(description: string, schema: z.ZodType, example: unknown): Answer {
  return { description, content: { 'application/json': { schema, example } } }
}
