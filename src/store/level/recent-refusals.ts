import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite } from '../contract.ts'

/** A refused write that is kept in memory. */
interface RecentRefusal {
  /** Ordinal of the newest refused write of the thing that the disk had then. */
  readonly behind: number
  readonly refused: RefusedWrite
}

/** Of all things together; each has a few hundred bytes. */
const mostOfAll = 2_000

/** Refused writes that came while the disk was short of room. They go with the process, and the oldest before that. */
export class RecentRefusals {
  readonly #ofThings = new Map<string, RecentRefusal[]>()
  #count = 0

  add(thingId: string, refusal: RecentRefusal): void {
    const ofThing = this.#ofThings.get(thingId) ?? []
    // Behind the others: those of the thing that has had none for the longest time go first.
    this.#ofThings.delete(thingId)
    this.#ofThings.set(thingId, ofThing)
    ofThing.push(refusal)
    this.#count++
    if (ofThing.length > keptRefusals) this.#dropOldest(thingId, ofThing)
    while (this.#count > mostOfAll) {
      for (const [oldest, refusals] of this.#ofThings) {
        this.#dropOldest(oldest, refusals)
        break
      }
    }
  }

  /** Oldest first. */
  of(thingId: string): readonly RecentRefusal[] {
    return this.#ofThings.get(thingId) ?? []
  }

  forgetThing(thingId: string): void {
    this.#count -= this.of(thingId).length
    this.#ofThings.delete(thingId)
  }

  #dropOldest(thingId: string, refusals: RecentRefusal[]): void {
    refusals.shift()
    this.#count--
    if (refusals.length === 0) this.#ofThings.delete(thingId)
  }
}
