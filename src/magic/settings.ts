import { isDeepStrictEqual } from 'node:util'
import type { Problem } from '../core/record/problem.ts'
import { isForbiddenMember } from '../core/record/value.ts'
import type { MagicResource } from './magic-resource.ts'

/** Maximum depth of the settings document; each part of a path counts as a level. */
const maximumDepth = 16
const maximumMemberBytes = 128
/** Maximum size of the document as JSON, bytes. A write that would exceed this is acknowledged, but only stored as history. */
const maximumDocumentBytes = 64 * 1024
const documentKey = '$settings'
const pathPart = /^[A-Za-z0-9_-]{1,64}$/

/**
 * `$settings`, a document of the thing, and `$settings.<path>`, one place in the document (contract §5). A write to the document is
 * a JSON Merge Patch (RFC 7396); a path takes any JSON value, and null removes the value there. The datetime of the document is the
 * receipt time of the newest write that changed it.
 */
export const settings: MagicResource = {
  key: documentKey,
  check({ key, value, geo }) {
    const path = pathOf(key)
    const problem = checkPath(path) ?? checkContent(value, path)
    return problem ?? { value, geo }
  },
  apply(state, { key, value, receivedAt }) {
    const path = pathOf(key)
    // Without a document there is nothing to remove.
    if (!state && path.length > 0 && value === null) return undefined
    const document = changed(state?.value, path, value)
    if (state && isDeepStrictEqual(document, state.value)) return undefined
    if (Buffer.byteLength(JSON.stringify(document)) <= maximumDocumentBytes) {
      return { value: document, datetime: receivedAt }
    }
    const message = `the settings are unchanged, because as JSON they would exceed ${maximumDocumentBytes} bytes`
    return { field: 'value', reason: 'settings_too_large', message }
  },
  parts: { read: (state, key) => valueAt(state.value, pathOf(key)) },
}

/** The parts of the path in `$settings.<path>`; none for `$settings`. */
function pathOf(key: string): readonly string[] {
  return key === documentKey ? [] : key.slice(documentKey.length + 1).split('.')
}

function changed(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return mergePatch(document, value as object)
  return value === null ? removeAt(document, path) : setAt(document, path, value)
}

function checkPath(path: readonly string[]): Problem | undefined {
  const forbidden = path.find(isForbiddenMember)
  if (forbidden) {
    return {
      field: 'key',
      reason: 'forbidden_member',
      message: `key must not have a part named ${forbidden}`,
    }
  }
  if (path.length <= maximumDepth && path.every(part => pathPart.test(part))) return undefined
  const message = `key must be $settings. and 1 to ${maximumDepth} parts of 1 to 64 letters, digits, "_" or "-"`
  return { field: 'key', reason: 'invalid_settings_path', message }
}

function checkContent(value: unknown, path: readonly string[]): Problem | undefined {
  const isDocument = path.length === 0
  if (value === undefined || (isDocument && !isObject(value))) {
    return invalid(isDocument ? 'value must be an object' : 'value must be given; null removes the setting')
  }
  return inspect(value, maximumDepth - path.length)
}

function inspect(value: unknown, levelsLeft: number): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (levelsLeft === 0) return invalid(`settings must be nested at most ${maximumDepth} levels deep`)
  for (const [name, member] of Object.entries(value)) {
    if (Buffer.byteLength(name) > maximumMemberBytes) {
      return invalid(`names of members must be at most ${maximumMemberBytes} bytes`)
    }
    const problem = inspect(member, levelsLeft - 1)
    if (problem) return problem
  }
  return undefined
}

function invalid(message: string): Problem {
  return { field: 'value', reason: 'invalid_settings', message }
}

// The functions below never change objects in place, and never read inherited members.

/** RFC 7396: members of `patch` replace members of `target`, null removes a member, and objects are merged. */
export function mergePatch(target: unknown, patch: object): object {
  const members = membersOf(target)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, isObject(value) ? mergePatch(members.get(name), value) : value)
  }
  return Object.fromEntries(members)
}

/** Sets the value at the path. Anything along the path that is not an object is replaced by one. */
function setAt(target: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  const members = membersOf(target)
  members.set(name, setAt(members.get(name), rest, value))
  return Object.fromEntries(members)
}

/** Removes the value at the path. Objects along the path are kept, even if they are now empty. */
function removeAt(target: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  const members = membersOf(target)
  if (name === undefined || !members.has(name)) return target
  if (rest.length === 0) members.delete(name)
  else members.set(name, removeAt(members.get(name), rest))
  return Object.fromEntries(members)
}

/** The value at the path; undefined if there is none. */
export function valueAt(target: unknown, path: readonly string[]): unknown {
  let value = target
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Whether a value is a JSON object, not an array or null. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function membersOf(value: unknown): Map<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : [])
}
