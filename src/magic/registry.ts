import type { MagicRules } from '../core/ports.ts'
import { isMagicKey } from '../core/record/key.ts'
import { geo } from './geo.ts'
import type { MagicResource } from './magic-resource.ts'
import { meta } from './meta.ts'
import { settings } from './settings.ts'

const builtIn: readonly MagicResource[] = [geo, settings, meta]
const stateKey = /^\$[A-Za-z0-9_-]{1,64}$/

export interface MagicRegistry extends MagicRules {
  /** Keys of states, the built-in keys first. */
  readonly keys: readonly string[]
  /** The resource that takes records with this key. */
  find(key: string): MagicResource | undefined
}

/** `$geo`, `$settings`, `$meta`, and the host's resources. @throws TypeError if a key is invalid or used twice */
export function createMagicRegistry(added: readonly MagicResource[] = []): MagicRegistry {
  const resources = new Map<string, MagicResource>()
  for (const resource of [...builtIn, ...added]) {
    const { key } = resource
    if (!stateKey.test(key)) {
      throw new TypeError(
        `the key of a magic resource must be $ and 1 to 64 letters, digits, "_" or "-": ${key}`,
      )
    }
    if (builtIn.some(each => each !== resource && each.key === key))
      throw new TypeError(`${key} is a magic resource of Thingwire: yours needs another key`)
    if (resources.has(key)) throw new TypeError(`two magic resources have the key ${key}`)
    resources.set(key, resource)
  }
  const find = (key: string): MagicResource | undefined => {
    const end = key.indexOf('.')
    const resource = resources.get(end === -1 ? key : key.slice(0, end))
    return end === -1 || resource?.parts ? resource : undefined
  }
  const known = [...resources.values()].flatMap(({ key, parts }) => (parts ? [key, `${key}.<path>`] : [key]))
  const message = `a key that starts with "$" must be ${known.join(', ')}`
  return {
    keys: [...resources.keys()],
    find,
    check: record =>
      find(record.key)?.check(record) ?? { field: 'key', reason: 'unknown_magic_resource', message },
  }
}

/** Whether a write has magic records. Such a write stays in the commit log until its magic records are applied. */
export function hasMagic(records: readonly { readonly key: string }[]): boolean {
  return records.some(({ key }) => isMagicKey(key))
}
