import { isDeepStrictEqual } from 'node:util'
import { isOrdinaryKey } from '../core/record/key.ts'
import type { Problem } from '../core/record/problem.ts'
import type { MagicResource } from './magic-resource.ts'
import { isObject } from './settings.ts'

/** Maximum size of the descriptions as JSON, bytes. A write that would exceed this is acknowledged, but only stored as history. */
const maximumBytes = 64 * 1024

interface Rule {
  readonly holds: (value: unknown) => boolean
  /** For messages: the value "must be …". */
  readonly text: string
}

const textOfUpTo = (most: number): Rule => ({
  holds: value => typeof value === 'string' && value !== '' && value.length <= most,
  text: `a text of 1 to ${most} characters`,
})
const flag: Rule = { holds: value => typeof value === 'boolean', text: 'true or false' }

/** The members of a description, apart from `discovered`. */
const rules = new Map<string, Rule>([
  ['name', textOfUpTo(100)],
  ['unit', textOfUpTo(32)],
  ['kind', textOfUpTo(64)],
  ['total', flag],
  [
    'decimals',
    {
      holds: value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 10,
      text: 'a whole number from 0 to 10',
    },
  ],
  ['hidden', flag],
])

/** In a state no value is null. In a patch null removes. */
interface Description {
  readonly [member: string]: unknown
  /** Names of the other members that a device's discovery has set. One that is absent was removed since, by a person. */
  readonly discovered?: readonly string[] | null
}

/**
 * `$meta`, the descriptions of a thing's resources by key (contract §5.3), such as `{"temperature":{"name":"Cellar","unit":"°C"}}`.
 * A write is a JSON Merge Patch (RFC 7396), except that a discovery does not change what a person has set. The datetime is the
 * receipt time of the newest write that changed a description.
 */
export const meta: MagicResource = {
  key: '$meta',
  check: ({ value, geo }) => checkPatch(value) ?? { value, geo },
  apply(state, { value, receivedAt }) {
    const before = new Map(Object.entries((state?.value ?? {}) as Readonly<Record<string, Description>>))
    const after = new Map(before)
    for (const [key, patch] of Object.entries(value as Readonly<Record<string, Description | null>>)) {
      const description = patch && patched(before.get(key) ?? {}, patch)
      if (description && Object.keys(description).length > 0) after.set(key, description)
      else after.delete(key)
    }
    if (isDeepStrictEqual(after, before)) return undefined
    const descriptions = Object.fromEntries(after)
    if (Buffer.byteLength(JSON.stringify(descriptions)) <= maximumBytes) {
      return { value: descriptions, datetime: receivedAt }
    }
    const message = `the descriptions are unchanged, because as JSON they would exceed ${maximumBytes} bytes`
    return { field: 'value', reason: 'meta_too_large', message }
  },
}

/** Members that the patch lists in `discovered` change nothing that a person has set or removed. */
function patched({ discovered: before, ...members }: Description, patch: Description): Description {
  const { discovered: listed, ...changes } = patch
  const after = new Map(Object.entries(members))
  const discovered = new Set(listed === null ? [] : before)
  const isDiscovery = (name: string) => listed?.includes(name) ?? false
  const isPersons = (name: string) => after.has(name) !== discovered.has(name)
  // A state that is written to a thing without descriptions lists what a person has removed there.
  for (const name of listed ?? []) if (!Object.hasOwn(changes, name) && !after.has(name)) discovered.add(name)
  for (const [name, value] of Object.entries(changes)) {
    if (isDiscovery(name) && isPersons(name)) continue
    if (value !== null) {
      after.set(name, value)
      if (isDiscovery(name)) discovered.add(name)
      else discovered.delete(name)
    } else {
      after.delete(name)
      if (isDiscovery(name)) discovered.delete(name)
    }
  }
  const names = [...rules.keys()].filter(name => discovered.has(name))
  return { ...Object.fromEntries(after), ...(names.length > 0 && { discovered: names }) }
}

// As everywhere in the errors of a write, no message quotes the write: any part of it could be a secret.

function checkPatch(patch: unknown): Problem | undefined {
  if (!isObject(patch)) return invalid('value must be an object such as {"temperature":{"unit":"°C"}}')
  for (const [key, description] of Object.entries(patch)) {
    if (!isOrdinaryKey(key)) return invalid('the names of the members must be keys of ordinary resources')
    const problem = checkDescription(description)
    if (problem) return problem
  }
  return undefined
}

function checkDescription(description: unknown): Problem | undefined {
  if (description === null) return undefined
  if (!isObject(description))
    return invalid('a description must be an object such as {"unit":"°C"}, or null, which removes it')
  const { discovered, ...members } = description as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(members)) {
    const rule = rules.get(name)
    if (!rule)
      return invalid(`the members of a description must be of ${[...rules.keys(), 'discovered'].join(', ')}`)
    if (value !== null && !rule.holds(value))
      return invalid(`${name} must be ${rule.text}, or null, which removes it`)
  }
  const isList = Array.isArray(discovered) && discovered.every(name => rules.has(name))
  if (isList || discovered === null || discovered === undefined) return undefined
  return invalid('discovered must be an array of names of other members of descriptions')
}

function invalid(message: string): Problem {
  return { field: 'value', reason: 'invalid_meta', message }
}
