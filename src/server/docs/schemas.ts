import { z } from 'zod'
import { shapes } from '../../http/operation/shapes.ts'

export type Schema = { readonly [keyword: string]: unknown }

/** Makes the JSON Schemas of a document, and collects the named schemas. */
export class Schemas {
  /** The named schemas that were used so far. */
  readonly components: Record<string, Schema> = {}
  readonly #target: 'draft-2020-12' | 'draft-07'

  /** @param target the JSON Schema dialect: 2020-12 for OpenAPI 3.1, 07 for AsyncAPI 3 */
  constructor(target: 'draft-2020-12' | 'draft-07') {
    this.#target = target
  }

  /** The schema of data on the wire. It allows unknown members, because both sides ignore them. */
  of(shape: z.ZodType): Schema {
    const made = z.toJSONSchema(shape, { metadata: shapes, io: 'input', target: this.#target })
    // Named schemas are in `$defs` or in `definitions`, depending on the dialect.
    const { $schema: _, $defs = {}, definitions = $defs, ...schema } = made
    for (const [name, definition] of Object.entries(definitions as object)) {
      this.components[name] = relinked(definition)
    }
    return relinked(schema)
  }
}

/** The schema, with its references changed to point into `components`. */
function relinked(schema: unknown): Schema {
  const text = JSON.stringify(schema, (name, value: unknown) => {
    if (name === '$ref' && typeof value === 'string') {
      return value.replace(/^#\/(\$defs|definitions)\//, '#/components/schemas/')
    }
    // Drops the maximum that zod gives every integer without one: the largest safe integer.
    return name === 'maximum' && value === Number.MAX_SAFE_INTEGER ? undefined : value
  })
  return JSON.parse(text) as Schema
}
