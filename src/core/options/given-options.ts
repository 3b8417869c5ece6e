import type { OptionRule } from './option-kinds.ts'

/** By the name of an option. A message never shows the value of a secret one. */
type GivenRules = Readonly<Record<string, OptionRule & { readonly secret?: true }>>

/**
 * Checks options at run time, for programs without types.
 *
 * @param call name of the function in messages, such as `createThings`
 * @param example valid options, as source
 * @throws TypeError with one line, such as `maxPacketSize of attachThings must be …: it is …`: the options are no object, or one of
 * them is unknown, missing or wrong
 */
export function assertOptions(call: string, rules: GivenRules, given: unknown, example: string): void {
  assertNames(call, Object.keys(rules), given, example)
  for (const [name, { schema, rule, secret }] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    const { error } = schema.safeParse(value)
    if (!error) continue
    const isShown = value === undefined || !secret
    const fault = isShown ? `: ${faultIn(value, error.issues[0]?.path)}` : ''
    throw new TypeError(`${name} of ${call} must be ${rule}${fault}`)
  }
}

/** @param path of the wrong part of the value; empty: the whole value */
function faultIn(value: unknown, path: readonly PropertyKey[] = []): string {
  const inside = path.reduce((at, step) => (at as Readonly<Record<PropertyKey, unknown>>)[step], value)
  const place = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return `${place || 'it'} is ${described(inside)}`
}

/** Checks the names of options only. @throws TypeError */
export function assertNames(call: string, names: readonly string[], given: unknown, example: string): void {
  assertObject(call, given, example)
  const stranger = Object.keys(given).find(name => !names.includes(name))
  if (stranger === undefined) return
  throw new TypeError(`${call} has no option ${shown(stranger)}: its options are ${names.join(', ')}`)
}

/** @throws TypeError */
export function assertObject(call: string, given: unknown, example: string): asserts given is object {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  throw new TypeError(
    `the options of ${call} must be an object such as ${example}: they are ${described(given)}`,
  )
}

/** A wrong value, in words for a message. */
export function described(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value instanceof Promise) return 'a promise: await it'
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'another object'
  return typeof value === 'string' ? shown(value) : String(value)
}

/** A value as JSON, without the credential in a URL, whatever its characters are. */
export function shown(value: unknown): string {
  return JSON.stringify(value).replace(/\/\/.*@/s, '//[redacted]@')
}
