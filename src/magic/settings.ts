import type { Problem } from '../core/problem.ts'
import { isForbiddenMember } from '../core/value.ts'
import type { MagicResource } from './magic-resource.ts'

/** How deep the settings document may be; a path part counts as a level. */
const maximumDepth = 16
const maximumMemberBytes = 128
const pathPart = /^[A-Za-z0-9_-]{1,64}$/
const pathPrefix = '$settings.'

/**
 * `$settings`, a document of the thing, and `$settings.<path>`, one place in it (contract §5). The document is
 * written as a JSON Merge Patch (RFC 7396); a path takes any JSON, null removes.
 */
export const settings: MagicResource = {
  matches: key => key === '$settings' || key.startsWith(pathPrefix),
  check({ key, value, geo }) {
    const path = key === '$settings' ? [] : key.slice(pathPrefix.length).split('.')
    const problem = checkPath(path) ?? checkContent(value, path)
    return problem ?? { value, geo }
  },
}

function checkPath(path: readonly string[]): Problem | undefined {
  const forbidden = path.find(isForbiddenMember)
  if (forbidden) {
    return { field: 'key', reason: 'forbidden_member', message: `key must not have a part ${forbidden}` }
  }
  if (path.length <= maximumDepth && path.every(part => pathPart.test(part))) return undefined
  const message = `key must be $settings. and 1 to ${maximumDepth} parts of 1 to 64 letters, digits, "_" or "-"`
  return { field: 'key', reason: 'invalid_settings_path', message }
}

function checkContent(value: unknown, path: readonly string[]): Problem | undefined {
  const isDocument = path.length === 0
  if (value === undefined || (isDocument && !isObject(value))) {
    return invalid(isDocument ? 'value must be an object' : 'value must be given; null removes')
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

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string): Problem {
  return { field: 'value', reason: 'invalid_settings', message }
}
