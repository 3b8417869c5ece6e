import type { Schema } from './matcher.ts'

/** Of an OpenAPI document, what the tests look at. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface OperationObject {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly ParameterObject[]
  readonly requestBody?: { readonly content: Readonly<Record<string, ContentObject>> }
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, ContentObject>> }>>
}

export interface ParameterObject {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Schema
  readonly required: boolean
  /** Of a required one; the page to try it on fills it in. */
  readonly example?: string | number
  /** Of an optional one. */
  readonly 'x-example'?: string | number
}

interface ContentObject {
  readonly schema: Schema
  readonly example?: unknown
}

/** An operation of the document, with where it is. */
export interface DocumentedOperation extends OperationObject {
  readonly path: string
  readonly method: string
}

export function operationsOf({ paths }: OpenApi): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
}

/** The reasons that it says it can be refused with, by status. */
export function refusalsOf({ responses }: DocumentedOperation): readonly (readonly [number, string])[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const { allOf = [] } = (content['application/json']?.schema ?? {}) as { allOf?: readonly Refused[] }
    return allOf.flatMap(({ properties }) =>
      (properties?.reason?.enum ?? []).map(reason => [Number(status), reason] as const),
    )
  })
}

interface Refused {
  readonly properties?: { readonly reason?: { readonly enum?: readonly string[] } }
}
