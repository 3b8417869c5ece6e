import { type Hold, HoldLost, type Holds, type TakenHold } from '../../core/holds.ts'
import { Listeners } from '../listeners.ts'

/**
 * Holds of a store that one process has alone: in memory. Calls are committed in their order, so it is compared when something is
 * called.
 */
export class SoleHolds implements Holds {
  readonly node: string
  readonly #committed: () => Promise<unknown>
  readonly #holders = new Map<string, string>()
  readonly #listeners = new Listeners<(hold: Hold) => void>()
  readonly onLost = this.#listeners.listen
  #taken = 0

  /**
   * @param node name of this process, that no other has
   * @param committed resolves when what was called before is committed
   */
  constructor(node: string, committed: () => Promise<unknown>) {
    this.node = node
    this.#committed = committed
  }

  isHeld({ name, holder }: Hold): boolean {
    return this.#holders.get(name) === holder
  }

  /** @throws HoldLost */
  assertHeld(hold: Hold | undefined): void {
    if (hold && !this.isHeld(hold)) throw new HoldLost(hold)
  }

  async take(name: string): Promise<TakenHold> {
    const taken = this.begin(name)
    // Who has released it, had nothing under way any more.
    if (taken.before !== undefined) await this.#committed()
    return taken
  }

  async takeFrom(name: string, holder: string | undefined): Promise<TakenHold | undefined> {
    const present = this.#holders.get(name)
    return present === undefined || present === holder ? await this.take(name) : undefined
  }

  async release(hold: Hold): Promise<void> {
    if (this.isHeld(hold)) this.#holders.delete(hold.name)
  }

  /** Takes a hold at once: what the holder before has still under way may not be committed yet. */
  begin(name: string): TakenHold {
    const before = this.#holders.get(name)
    const holder = `${this.node}:${++this.#taken}`
    this.#holders.set(name, holder)
    if (before !== undefined) for (const listener of this.#listeners) listener({ name, holder: before })
    return { name, holder, before }
  }
}
