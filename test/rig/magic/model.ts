import { isDeepStrictEqual } from 'node:util'
import { type Count, counted, noCount } from './counter.ts'
import type { KeptRecord, MagicWrite } from './write.ts'

type Json = Readonly<Record<string, unknown>>

/** What REST gives of a thing; undefined: nothing. */
export interface States {
  readonly $geo: unknown
  readonly $settings: unknown
  readonly $count: unknown
}

const maximumSettings = 65_536

/** What contract §5 makes of the magic records of a thing. */
export class MagicModel {
  #position: { readonly value: unknown; readonly datetime: number } | undefined
  #settings: Json | undefined
  #count: Count | undefined
  /** By key, in the order of the writes. */
  readonly #history = new Map<string, KeptRecord[]>()

  get states(): States {
    return { $geo: this.#position?.value, $settings: this.#settings, $count: this.#count }
  }

  /** How often `$count` has changed. */
  get changes(): number {
    return this.#count?.applied ?? 0
  }

  get history(): ReadonlyMap<string, readonly KeptRecord[]> {
    return this.#history
  }

  apply({ kept, removes }: MagicWrite): void {
    if (removes !== undefined) this.#remove(removes)
    for (const record of kept) {
      const history = this.#history.get(record.key)
      if (history) history.push(record)
      else this.#history.set(record.key, [record])
      this.#applyRecord(record)
    }
  }

  #applyRecord({ key, value, datetime = Number.POSITIVE_INFINITY }: KeptRecord): void {
    if (key === '$geo') {
      // Receipt times do not go back, and are behind every explicit datetime of the load.
      if (!this.#position || datetime >= this.#position.datetime) this.#position = { value, datetime }
    } else if (key === '$count') {
      this.#count = counted(this.#count ?? noCount, String(value))
    } else {
      this.#applySetting(key.split('.').slice(1), value)
    }
  }

  #applySetting(path: readonly string[], value: unknown): void {
    const before = this.#settings
    if (!before && path.length > 0 && value === null) return
    const after = path.length === 0 ? patched(before, value as Json) : placed(before, path, value)
    if (Buffer.byteLength(JSON.stringify(after)) <= maximumSettings) this.#settings = after
  }

  /** DELETE of a resource, its history with it. */
  #remove(key: string): void {
    const [name, ...path] = key.split('.')
    const isOfState = (other: string) => path.length === 0 && other.startsWith(`${name}.`)
    for (const other of [...this.#history.keys()]) {
      if (other === key || isOfState(other)) this.#history.delete(other)
    }
    if (name === '$geo') this.#position = undefined
    else if (path.length === 0) this.#settings = undefined
    else this.#applySetting(path, null)
  }
}

/** RFC 7396. */
function patched(target: unknown, patch: Json): Json {
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = isObject(value) ? patched(result[name], value) : value
  }
  return result
}

function placed(target: unknown, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  if (value === null && !(name in result)) return isObject(target) ? target : result
  if (rest.length > 0) {
    // Where nothing is to be removed, nothing is made on the way.
    if (value === null && !isObject(result[name])) return result
    result[name] = placed(result[name], rest, value)
  } else if (value === null) delete result[name]
  else result[name] = value
  return result
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names of the states in which two differ. */
export function differences(a: States, b: States): (keyof States)[] {
  return (['$geo', '$settings', '$count'] as const).filter(key => !isDeepStrictEqual(a[key], b[key]))
}
