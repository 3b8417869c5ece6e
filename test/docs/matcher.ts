import { z } from 'zod'

export type Schema = { readonly [keyword: string]: unknown }

/** What is wrong with a value by a schema of a document; a member that is not documented is wrong, too. */
export type Matcher = (value: unknown, schema: Schema) => string | undefined

/** @param components `components.schemas` of the document */
export function matcherOf(components: Readonly<Record<string, Schema>>): Matcher {
  const definitions = strict(components)
  const shapes = new Map<Schema, z.ZodType>()
  return (value, schema) => {
    const whole = { ...(strict(schema) as object), $defs: definitions }
    const shape = shapes.get(schema) ?? z.fromJSONSchema(whole as never)
    shapes.set(schema, shape)
    const { error } = shape.safeParse(value)
    return error && `${z.prettifyError(error)} in ${JSON.stringify(value).slice(0, 500)}`
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
