import { z } from 'zod'

/** What values an option can have. */
export interface OptionRule<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  /** Completes the sentence "must be …". */
  readonly rule: string
}

/** The same, and how a text (environment, command line) becomes one. */
export interface OptionKind<Schema extends z.ZodType = z.ZodType> extends OptionRule<Schema> {
  readonly unit: 'bytes' | 'ms' | undefined
  /** A text that spells no value comes back as it is: the schema then refuses it. */
  readonly fromText: (text: string) => unknown
}

export interface OptionDeclaration extends OptionKind {
  readonly default: unknown
  /** What it sets, for a reader of the documentation. */
  readonly meaning: string
  /** Why the default is what it is. */
  readonly reason: string
  /** What is wrong with a value that the schema refuses, where the rule does not say it. */
  readonly faultOf?: (value: unknown) => string | undefined
  /** Never shown in a message, and not taken from the command line. */
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

/** As text: the items with commas between them. */
export function listOf<Item extends z.ZodType>(rule: string, item: Item): OptionKind<z.ZodArray<Item>> {
  return {
    schema: z.array(item).min(1),
    rule,
    unit: undefined,
    fromText: text => text.split(',').map(part => part.trim()),
  }
}

/** An option that need not be set. */
export function optional<Schema extends z.ZodType>(
  kind: OptionKind<Schema>,
): OptionKind<z.ZodOptional<Schema>> & { readonly default: undefined } {
  return { ...kind, schema: kind.schema.optional(), default: undefined }
}

/** What a program gives, and a text cannot say. */
export function aFunction(): OptionRule {
  return { schema: z.custom(value => typeof value === 'function'), rule: 'a function' }
}

/** Something with these methods and members; what the members are is not looked at. */
export function objectWith(rule: string, members: readonly string[]): OptionRule {
  const hasAll = (value: unknown) =>
    typeof value === 'object' && value !== null && members.every(name => name in value)
  return { schema: z.custom(hasAll), rule }
}

/** A rule of an option that need not be given. */
export function ifGiven({ schema, rule }: OptionRule): OptionRule {
  return { schema: schema.optional(), rule }
}

/** What Fastify itself takes of the options of each plugin. */
export const ofFastify = {
  // Fastify does not apply it to a plugin that belongs to the scope around it.
  prefix: {
    schema: z.undefined(),
    rule: 'that of a scope: app.register(async scope => { await scope.register(…) }, { prefix })',
  },
  logLevel: { schema: z.unknown(), rule: '' },
  logSerializers: { schema: z.unknown(), rule: '' },
} as const
