import { z } from 'zod'
import { shapes } from '../../http/operation/shapes.ts'

/** A JSON Schema as it stands in a document. */
export type Schema = { readonly [keyword: string]: unknown }

/** Makes the JSON Schemas of a document, those that have a name in one place. */
export class Schemas {
  /** Those that have a name, as far as they were asked for. */
  readonly components: Record<string, Schema> = {}
  readonly #target: 'draft-2020-12' | 'draft-07'

  /** @param target the dialect of the document's standard: OpenAPI 3.1 has 2020-12, AsyncAPI 3 has 07 */
  constructor(target: 'draft-2020-12' | 'draft-07') {
    this.#target = target
  }

  /** Of what a client sends or is sent: members that nobody knows of are ignored, on either side. */
  of(shape: z.ZodType): Schema {
    const made = z.toJSONSchema(shape, { metadata: shapes, io: 'input', target: this.#target })
    // Of the two names, the one of the dialect.
    const { $schema: _, $defs = {}, definitions = $defs, ...schema } = made
    for (const [name, definition] of Object.entries(definitions as object)) {
      this.components[name] = relinked(definition)
    }
    return relinked(schema)
  }
}

/** References lead to `components`. */
function relinked(schema: unknown): Schema {
  const text = JSON.stringify(schema, (name, value: unknown) => {
    if (name === '$ref' && typeof value === 'string') {
      return value.replace(/^#\/(\$defs|definitions)\//, '#/components/schemas/')
    }
    // Of whole numbers zod says where those end that a double can hold.
    return name === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value
  })
  return JSON.parse(text) as Schema
}
