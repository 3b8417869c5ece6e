import type { Problem } from './problem.ts'

/** Largest value of a record, in bytes of its JSON text. */
export const maximumValueBytes = 64 * 1024
/** How deep objects and arrays may nest inside a value; a scalar has depth 0. */
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

/** Names that no object member and no settings path part may have (contract §2). */
export function isForbiddenMember(name: string): boolean {
  return forbiddenMembers.has(name)
}

/** The first member of the object that has such a name. What stands inside a member that is ignored is ignored too. */
export function forbiddenMemberOf(object: object): string | undefined {
  // No array of the names: this is asked of each record.
  for (const name in object) if (isForbiddenMember(name)) return name
  return undefined
}

/** The problem of a `field` that has such a member. */
export function forbiddenMember(field: string, name: string): Problem {
  return { field, reason: 'forbidden_member', message: `${field} must not have a member named ${name}` }
}

/**
 * The JSON text of a parsed value, as it is stored and given back: -0 is 0, a lone surrogate stays itself as an
 * escape.
 *
 * @returns the text, or what is wrong: a number that overflowed, a forbidden member, too deep, too large.
 */
export function valueText(value: unknown): string | Problem {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? String(value) : overflow
  }
  if (typeof value === 'object' && value !== null) {
    const problem = inspect(value, maximumValueDepth)
    if (problem) return problem
  }
  const text = jsonText(value)
  if (text === undefined) return noJson
  if (text.length > maximumValueBytes / 3 && Buffer.byteLength(text) > maximumValueBytes) {
    return {
      field: 'value',
      reason: 'value_too_large',
      message: `value must be at most ${maximumValueBytes} bytes as JSON`,
    }
  }
  return text
}

/** @returns undefined: of a function, a symbol, a BigInt, which only a program can give, and no body */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** Looks through an object or array for what JSON text can say and a value may not hold. */
function inspect(container: object, levelsLeft: number): Problem | undefined {
  if (levelsLeft === 0) {
    const message = `value must be nested at most ${maximumValueDepth} levels deep`
    return { field: 'value', reason: 'value_too_deep', message }
  }
  const isArray = Array.isArray(container)
  for (const [name, member] of Object.entries(container)) {
    if (!isArray && isForbiddenMember(name)) return forbiddenMember('value', name)
    if (typeof member === 'number') {
      if (!Number.isFinite(member)) return overflow
    } else if (typeof member === 'object' && member !== null) {
      const problem = inspect(member, levelsLeft - 1)
      if (problem) return problem
    }
  }
  return undefined
}
