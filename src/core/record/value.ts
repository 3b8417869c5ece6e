import type { Problem } from './problem.ts'

/** Maximum length of the JSON text of a value, bytes. */
export const maximumValueBytes = 64 * 1024
/** Maximum depth of nested objects and arrays in a value. A scalar has depth 0. */
export const maximumValueDepth = 32

const forbiddenMembers = new Set(['__proto__', 'constructor', 'prototype'])

const overflow: Problem = {
  field: 'value',
  reason: 'number_out_of_range',
  message: 'value must contain only numbers that fit a 64-bit float',
}

const noJson: Problem = {
  field: 'value',
  reason: 'invalid_value',
  message: 'value must be something that JSON can represent',
}

/** Whether a name is forbidden for object members and for parts of a settings path (contract §2). */
export function isForbiddenMember(name: string): boolean {
  return forbiddenMembers.has(name)
}

/** The first forbidden member name of the object. Does not look into nested objects. */
export function forbiddenMemberOf(object: object): string | undefined {
  // This runs for each record; `for … in` does not allocate an array of the names.
  for (const name in object) if (isForbiddenMember(name)) return name
  return undefined
}

export function forbiddenMember(field: string, name: string): Problem {
  return { field, reason: 'forbidden_member', message: `${field} must not have a member named ${name}` }
}

/**
 * The JSON text to store for a value that was parsed or comes from the host program. -0 becomes 0; a lone surrogate is escaped.
 *
 * @returns the text, or the problem: not JSON, number out of range, forbidden member, nested too deep, too large
 */
export function valueText(value: unknown): string | Problem {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? String(value) : overflow
  }
  let text: string
  try {
    const problem = inspect(value, maximumValueDepth)
    if (problem) return problem
    text = JSON.stringify(value)
  } catch {
    // A getter or `toJSON` of the host program has thrown.
    return noJson
  }
  if (text.length > maximumValueBytes / 3 && Buffer.byteLength(text) > maximumValueBytes) {
    return {
      field: 'value',
      reason: 'value_too_large',
      message: `value must be at most ${maximumValueBytes} bytes as JSON`,
    }
  }
  return text
}

/** The problem with the first part of a value that is not allowed or that JSON cannot express; undefined if there is none. */
function inspect(value: unknown, levelsLeft: number): Problem | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : overflow
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value !== 'object') return noJson
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return inspectOwnForm(toJSON.call(value, ''), levelsLeft)
  return inspectMembers(value, levelsLeft)
}

/** @param form result of an object's `toJSON`; null means that JSON cannot express the object, for example an invalid Date */
function inspectOwnForm(form: unknown, levelsLeft: number): Problem | undefined {
  if (typeof form !== 'object') return inspect(form, levelsLeft)
  return form === null ? noJson : inspectMembers(form, levelsLeft)
}

function inspectMembers(container: object, levelsLeft: number): Problem | undefined {
  if (levelsLeft === 0) {
    const message = `value must be nested at most ${maximumValueDepth} levels deep`
    return { field: 'value', reason: 'value_too_deep', message }
  }
  if (Array.isArray(container)) {
    // Unlike `forEach`, `for … of` also visits the holes of an array, as undefined.
    for (const item of container) {
      const problem = inspect(item, levelsLeft - 1)
      if (problem) return problem
    }
    return undefined
  }
  if (!isOfMembers(container)) return noJson
  for (const [name, member] of Object.entries(container)) {
    if (isForbiddenMember(name)) return forbiddenMember('value', name)
    // JSON omits undefined members.
    const problem = member === undefined ? undefined : inspect(member, levelsLeft - 1)
    if (problem) return problem
  }
  return undefined
}

/** Whether JSON shows all contents of an object. It does not for a Map, Set, RegExp, Error, Promise or byte array. */
function isOfMembers(object: object): boolean {
  const isPlain = Object.getPrototypeOf(object) === Object.prototype
  return isPlain || Object.prototype.toString.call(object) === '[object Object]'
}
