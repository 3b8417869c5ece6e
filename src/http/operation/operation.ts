import type { z } from 'zod'
import type { Reason } from '../../errors.ts'

/** The public description of a route (contract §6). `/docs` is generated from it, and a test compares it with the route. */
export interface Operation {
  /** Unique. A verb and its object, such as `readResource`. */
  readonly id: string
  readonly group: 'Things' | 'Resources' | 'Live' | 'Credentials' | 'Operator' | 'Service'
  readonly summary: string
  readonly description?: string
  readonly credential: CredentialKind
  readonly parameters?: readonly Parameter[]
  readonly body?: Body
  /** Answers by HTTP status. The first is the answer to a successful request. */
  readonly answers: Readonly<Record<number, Answer>>
  /** Reasons for which the request can be refused, in addition to `everywhere` in refusals.ts. */
  readonly refusals: readonly Reason[]
}

/**
 * `thing`: the thing token in the path, or an Authorization for the thing; `stream`: as `thing`, or `?session=`;
 * `source`: the source token in the path, or an Authorization of the source; `any`: any Authorization; `admin`: the admin key; `token`: `?thingToken=`; `none`: no credential.
 */
export type CredentialKind = 'thing' | 'stream' | 'source' | 'any' | 'admin' | 'token' | 'none'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: z.ZodType
  /** A valid value or, for a secret or an id, its form. The page at `/docs` fills in the examples of required parameters. */
  readonly example: string | number | boolean
  /** Whether a request without this query parameter is refused. Default false. */
  readonly isRequired?: true
}

interface Body {
  readonly schema: z.ZodType
  readonly example: unknown
  /** Whether the body may be left out. Default false. */
  readonly optional?: boolean
}

export interface Answer {
  readonly description: string
  /** The content, by media type. */
  readonly content: Readonly<Record<string, Content>>
  /** Descriptions of headers, by header name. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Content {
  readonly schema: z.ZodType
  readonly example: unknown
}

/** Describes the header `Link`. */
export const linkToNext =
  'Address of the next page, if there is one: `<?…>; rel="next"`, relative to the address of the request.'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent if the route is not documented. */
    operation?: Operation
  }
}

export function json(description: string, schema: z.ZodType, example: unknown): Answer {
  return { description, content: { 'application/json': { schema, example } } }
}
