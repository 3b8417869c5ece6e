import { z } from 'zod'

/** The valid values of an option. */
export interface OptionRule<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  /** Completes the sentence "must be …". */
  readonly rule: string
}

/** A rule, and how to convert text from an environment variable or the command line to a value. */
export interface OptionKind<Schema extends z.ZodType = z.ZodType> extends OptionRule<Schema> {
  readonly unit: 'bytes' | 'ms' | undefined
  /** Returns the text unchanged if it is not a valid value; the schema then refuses it. */
  readonly fromText: (text: string) => unknown
}

export interface OptionDeclaration extends OptionKind {
  readonly default: unknown
  /** What the option does, for the documentation. */
  readonly meaning: string
  /** The reason for the default. */
  readonly reason: string
  /** Explains what is wrong with a refused value if the rule alone does not. */
  readonly faultOf?: (value: unknown) => string | undefined
  /** Set if the value must not be shown in messages or given on the command line. */
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

/** A list. In text form, its items are separated by commas. */
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

/** For options that only a program can give: a function has no text form. */
export function aFunction(): OptionRule {
  return { schema: z.custom(value => typeof value === 'function'), rule: 'a function' }
}

/** An object that has all of these members, whatever their types. */
export function objectWith(rule: string, members: readonly string[]): OptionRule {
  const hasAll = (value: unknown) =>
    typeof value === 'object' && value !== null && members.every(name => name in value)
  return { schema: z.custom(hasAll), rule }
}

export function ifGiven({ schema, rule }: OptionRule): OptionRule {
  return { schema: schema.optional(), rule }
}

/** The options that every plugin has and that Fastify itself handles. */
export const ofFastify = {
  // Fastify does not apply a prefix to a plugin that skips encapsulation.
  prefix: {
    schema: z.undefined(),
    rule: 'that of a scope: app.register(async scope => { await scope.register(…) }, { prefix })',
  },
  logLevel: { schema: z.unknown(), rule: '' },
  logSerializers: { schema: z.unknown(), rule: '' },
} as const
