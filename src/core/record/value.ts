import type { Problem } from './problem.ts'

/** Largest value of a record, in bytes of its JSON text. */
export const maximumValueBytes = 64 * 1024
/** Maximum nesting of objects and arrays in a value; a scalar has depth 0. */
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
  message: 'value must be what JSON can say',
}

/** Forbidden names of object members and parts of a settings path (contract §2). */
export function isForbiddenMember(name: string): boolean {
  return forbiddenMembers.has(name)
}

/** The first member of the object with a forbidden name; not of nested objects. */
export function forbiddenMemberOf(object: object): string | undefined {
  // Without an array of the names, since this runs for each record.
  for (const name in object) if (isForbiddenMember(name)) return name
  return undefined
}

export function forbiddenMember(field: string, name: string): Problem {
  return { field, reason: 'forbidden_member', message: `${field} must not have a member named ${name}` }
}

/**
 * The JSON text under which a value, parsed or from a program, is stored: -0 becomes 0, a lone surrogate an escape.
 *
 * @returns the text, or the problem: not JSON, a number overflow, a forbidden member, too deep, too large
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
    // A getter or `toJSON` of a program has thrown.
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

/** The first part of a value that JSON cannot express, or that a value must not contain. */
function inspect(value: unknown, levelsLeft: number): Problem | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : overflow
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value !== 'object') return noJson
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return inspectOwnForm(toJSON.call(value, ''), levelsLeft)
  return inspectMembers(value, levelsLeft)
}

/** @param form result of an object's `toJSON`; null: JSON has no text for it, such as for an invalid Date */
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
    // Unlike `forEach`, `for … of` visits holes of the array, as undefined.
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

/** Whether JSON shows all contents of an object: not of a Map, Set, RegExp, Error, Promise, or an array of bytes. */
function isOfMembers(object: object): boolean {
  const isPlain = Object.getPrototypeOf(object) === Object.prototype
  return isPlain || Object.prototype.toString.call(object) === '[object Object]'
}
