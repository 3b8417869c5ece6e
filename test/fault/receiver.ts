import { Changes } from '../helpers/changes.ts'
import type { CommitOrder } from './commit-order.ts'
import { SequenceCheck } from './sequence-check.ts'

/** What a receiver is to get: each record, or each write as a whole. */
export type Wanted = keyof CommitOrder

/** Value of what is told and not kept: who is connected gets it, and there is no place for it in any order. */
export const fleeting = 'fleeting'

/** What one receiver got of one thing over all of its connections: from sessions and streams alike. */
export class Receiver {
  readonly name: string
  readonly thingId: string
  readonly wanted: Wanted
  readonly #check: SequenceCheck
  readonly #got = new Set<string>()
  readonly #breaches: string[] = []
  /** Not held against the commit order yet; undefined: a new connection. */
  #unchecked: (string | undefined)[] = []
  readonly #changes = new Changes()

  constructor(name: string, thingId: string, wanted: Wanted) {
    this.name = `${name} of ${thingId}`
    this.thingId = thingId
    this.wanted = wanted
    this.#check = new SequenceCheck(this.name)
  }

  /** In words. */
  get violations(): readonly string[] {
    return [...this.#breaches, ...this.#check.violations]
  }

  /** Whether this came before. */
  has(value: string): boolean {
    return this.#got.has(value)
  }

  /** Messages that came again on a later connection. */
  get repeated(): number {
    return this.#check.repeated
  }

  connected(): void {
    this.#unchecked.push(undefined)
  }

  /** @param value of a record, or of the first of a write */
  take(value: string): void {
    if (value === fleeting) return
    this.#unchecked.push(value)
    this.#got.add(value)
    this.#changes.tell()
  }

  breach(text: string): void {
    this.#breaches.push(`${this.name}: ${text}`)
  }

  /** Compares what came since the last call with the order in which it was committed. */
  check(order: CommitOrder): void {
    const places = new Map(order[this.wanted].map((value, place) => [value, place]))
    for (const value of this.#unchecked.splice(0)) {
      const place = value === undefined ? undefined : places.get(value)
      if (value === undefined) this.#check.connected()
      else if (place === undefined) this.breach(`${value} came, and is not there`)
      else this.#check.take(place)
    }
  }

  /** @returns what of this has not come by the deadline, milliseconds */
  async until(values: readonly string[], deadline: number): Promise<string[]> {
    await this.#changes.until(() => values.every(value => this.#got.has(value)), deadline)
    return values.filter(value => !this.#got.has(value))
  }
}
