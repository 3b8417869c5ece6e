import { addressKey, isLoopback } from './address-key.ts'
import { BoundedCounts } from './bounded-counts.ts'

/** Connections that are open, by address; those of the machine itself are not counted (contract §9). */
export class AddressCounts {
  readonly #open: BoundedCounts

  /** @param maximum of one address */
  constructor(maximum: number) {
    this.#open = new BoundedCounts(maximum)
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
    return isLoopback(address) ? () => {} : this.#open.enter(addressKey(address))
  }
}
