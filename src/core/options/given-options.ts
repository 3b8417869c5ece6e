import { Redactor } from '../refusals/redactor.ts'
import type { OptionRule } from './option-kinds.ts'

const redactor = new Redactor()

/** Rules by option name. Messages never show the value of a secret option. */
type GivenRules = Readonly<Record<string, OptionRule & { readonly secret?: true }>>

/**
 * Checks options at run time, for callers that are not type-checked.
 *
 * @param call name of the function in messages, such as `createThings`
 * @param example valid options, as source code
 * @throws TypeError if the options are not an object, or one of them is unknown, missing or wrong; the message is one line, such as
 * `maxPacketSize of attachThings must be …, but it is …`
 */
export function assertOptions(call: string, rules: GivenRules, given: unknown, example: string): void {
  assertNames(call, Object.keys(rules), given, example)
  for (const [name, { schema, rule, secret }] of Object.entries(rules)) {
    const value = (given as Readonly<Record<string, unknown>>)[name]
    const { error } = schema.safeParse(value)
    if (!error) continue
    const isShown = value === undefined || !secret
    const fault = isShown ? `, but ${faultIn(value, error.issues[0]?.path)}` : ''
    throw new TypeError(`${name} of ${call} must be ${rule}${fault}`)
  }
}

/** @param path path of the wrong part within the value; empty if the whole value is wrong */
function faultIn(value: unknown, path: readonly PropertyKey[] = []): string {
  const inside = path.reduce((at, step) => (at as Readonly<Record<PropertyKey, unknown>>)[step], value)
  const place = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return `${place || 'it'} is ${described(inside)}`
}

/** Checks only the names of the options. @throws TypeError if a name is unknown */
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
    `the options of ${call} must be an object such as ${example}, but they are ${described(given)}`,
  )
}

/** Describes a wrong value in a message. */
export function described(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value instanceof Promise) return 'a promise: await it'
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'another object'
  return typeof value === 'string' ? shown(value) : String(value)
}

/** A value as JSON. A credential in a URL is redacted, even if it contains `/` or `@`, and so is everything like a token. */
export function shown(value: unknown): string {
  return redactor.redact(JSON.stringify(value).replace(/\/\/.*@/s, '//[redacted]@'))
}
