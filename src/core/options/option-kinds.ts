import { z } from 'zod'

/** The valid values of an option. */
export interface OptionRule<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  /** Completes the sentence "must be …". */
  readonly rule: string
}

/** A rule with a conversion from text (environment, command line). */
export interface OptionKind<Schema extends z.ZodType = z.ZodType> extends OptionRule<Schema> {
  readonly unit: 'bytes' | 'ms' | undefined
  /** Returns a text that is no value unchanged: the schema then refuses it. */
  readonly fromText: (text: string) => unknown
}

export interface OptionDeclaration extends OptionKind {
  readonly default: unknown
  /** For the documentation. */
  readonly meaning: string
  /** The reason for the default. */
  readonly reason: string
  /** The fault of a refused value, if the rule does not explain it. */
  readonly faultOf?: (value: unknown) => string | undefined
  /** Never shown in a message, and not accepted on the command line. */
  readonly secret?: true
}

const same = (text: string): unknown => text

export function wholeNumber(from: number, to: number, unit?: 'bytes' | 'ms'): OptionKind<z.ZodNumber> {
  return {
    schema: z.number().int().min(from).max(to),
    rule: `a whole number from ${from} to ${to}${unit ? ` (${unit})` : ''}`,
    unit,
    fromText: text => (/^\d+$/.test(text) ? Number(text) : text),
  }
}

export function yesOrNo(): OptionKind<z.ZodBoolean> {
  return {
    schema: z.boolean(),
    rule: 'true or false',
    unit: undefined,
    fromText: text => ({ true: true, false: false })[text] ?? text,
  }
}

export function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
): OptionKind<z.ZodType<Values[number]>> {
  return { schema: z.enum(values), rule: `one of ${values.join(', ')}`, unit: undefined, fromText: same }
}

export function text(rule: string, schema: z.ZodString = z.string().min(1)): OptionKind<z.ZodString> {
  return { schema, rule, unit: undefined, fromText: same }
}

/** A text has commas between the items. */
export function listOf<Item extends z.ZodType>(rule: string, item: Item): OptionKind<z.ZodArray<Item>> {
  return {
    schema: z.array(item).min(1),
    rule,
    unit: undefined,
    fromText: text => text.split(',').map(part => part.trim()),
  }
}

export function optional<Schema extends z.ZodType>(
  kind: OptionKind<Schema>,
): OptionKind<z.ZodOptional<Schema>> & { readonly default: undefined } {
  return { ...kind, schema: kind.schema.optional(), default: undefined }
}

/** For options of a program, which have no text form. */
export function aFunction(): OptionRule {
  return { schema: z.custom(value => typeof value === 'function'), rule: 'a function' }
}

/** An object with these members, of any type. */
export function objectWith(rule: string, members: readonly string[]): OptionRule {
  const hasAll = (value: unknown) =>
    typeof value === 'object' && value !== null && members.every(name => name in value)
  return { schema: z.custom(hasAll), rule }
}

export function ifGiven({ schema, rule }: OptionRule): OptionRule {
  return { schema: schema.optional(), rule }
}

/** Options of each plugin that Fastify itself handles. */
export const ofFastify = {
  // Fastify does not apply a prefix to a plugin that skips encapsulation.
  prefix: {
    schema: z.undefined(),
    rule: 'that of a scope: app.register(async scope => { await scope.register(…) }, { prefix })',
  },
  logLevel: { schema: z.unknown(), rule: '' },
  logSerializers: { schema: z.unknown(), rule: '' },
} as const
