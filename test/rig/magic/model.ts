import type { MagicState } from '../../../src/magic/magic-resource.ts'
import { createMagicRegistry } from '../../../src/magic/registry.ts'
import { type Count, counter } from './counter.ts'
import type { KeptRecord, MagicWrite } from './write.ts'

const resources = createMagicRegistry([counter])

/** What becomes of a thing of which each magic record is applied once, in order. test/magic judges by what rules. */
export class MagicModel {
  readonly #states = new Map<string, MagicState>()
  /** By key, in the order of the writes. */
  readonly #history = new Map<string, KeptRecord[]>()

  /** What REST gives; undefined: nothing. */
  state(key: string): unknown {
    return this.#states.get(key)?.value
  }

  /** How often `$count` has changed. */
  get changes(): number {
    return (this.state('$count') as Count | undefined)?.applied ?? 0
  }

  get history(): ReadonlyMap<string, readonly KeptRecord[]> {
    return this.#history
  }

  apply({ kept, removes }: MagicWrite): void {
    if (removes !== undefined) this.#remove(removes)
    for (const record of kept) {
      const history = this.#history.get(record.key) ?? []
      history.push(record)
      this.#history.set(record.key, history)
      this.#applyRecord(record)
    }
  }

  // Receipt times do not go back, and are behind every explicit datetime of the load.
  #applyRecord({ key, value, datetime = Number.POSITIVE_INFINITY }: KeptRecord): void {
    const resource = resources.find(key)
    if (!resource) throw new Error(`there is no magic resource for ${key}`)
    const change = { key, value, datetime, receivedAt: Number.POSITIVE_INFINITY }
    const state = resource.apply(this.#states.get(resource.key), change)
    if (state && 'datetime' in state) this.#states.set(resource.key, state)
  }

  /** DELETE of a resource, its history with it. */
  #remove(key: string): void {
    for (const other of [...this.#history.keys()]) {
      if (other === key || other.startsWith(`${key}.`)) this.#history.delete(other)
    }
    if (key.includes('.')) this.#applyRecord({ key, value: null })
    else this.#states.delete(key)
  }
}
