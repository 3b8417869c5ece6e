import { addressKey, isLoopback } from './address-key.ts'

/** Connections that are open, by address; those of the machine itself are not counted (contract §9). */
export class AddressCounts {
  readonly #maximum: number
  readonly #open = new Map<string, number>()

  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** How many addresses have a connection open. */
  get size(): number {
    return this.#open.size
  }

  /**
   * A connection is opened.
   *
   * @returns to be called once when it is closed; undefined: there are too many, and it is to be refused
   */
  enter(address: string): (() => void) | undefined {
    if (isLoopback(address)) return () => {}
    const key = addressKey(address)
    const open = this.#open.get(key) ?? 0
    if (open >= this.#maximum) return undefined
    this.#open.set(key, open + 1)
    return () => this.#leave(key)
  }

  #leave(key: string): void {
    const left = (this.#open.get(key) ?? 0) - 1
    if (left > 0) this.#open.set(key, left)
    else this.#open.delete(key)
  }
}
