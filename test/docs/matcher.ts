import { z } from 'zod'

export type Schema = { readonly [keyword: string]: unknown }

/** What makes `problemWith` of the schemas of a document. */
export class Matcher {
  readonly #definitions: unknown
  readonly #read = new Map<Schema, z.ZodType>()

  /** @param components `components.schemas` of the document */
  constructor(components: Readonly<Record<string, Schema>>) {
    this.#definitions = strict(components)
  }

  /** What is wrong with `value` by a schema of the document; a member that is not documented is wrong, too. */
  problemWith(value: unknown, schema: Schema): string | undefined {
    const { error } = this.#shapeOf(schema).safeParse(value)
    return error && `${z.prettifyError(error)} in ${JSON.stringify(value).slice(0, 500)}`
  }

  #shapeOf(schema: Schema): z.ZodType {
    const read = this.#read.get(schema)
    if (read) return read
    const whole = { ...(strict(schema) as object), $defs: this.#definitions }
    const shape = z.fromJSONSchema(whole as never)
    this.#read.set(schema, shape)
    return shape
  }
}

/** The schema without room for members that it does not name, and with its references where `$defs` are. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const { allOf, ...rest } = schema as { allOf?: readonly object[] }
  const members = Object.entries(rest).map(([name, value]) => {
    const isReference = name === '$ref' && typeof value === 'string'
    return [name, isReference ? value.replace('#/components/schemas/', '#/$defs/') : strict(value)]
  })
  const copy: Record<string, unknown> = Object.fromEntries(members)
  // The parts of a whole each name some of its members.
  if (allOf) copy.allOf = allOf.map(part => ('$ref' in part ? strict(part) : part))
  if (copy.type === 'object' && !('additionalProperties' in copy)) copy.additionalProperties = false
  return copy
}
