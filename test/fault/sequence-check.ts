/**
 * Compares what one receiver gets, over all of its connections, with what there is to get, in order: nothing is passed
 * over, and nothing comes twice or late on one connection. A new connection may begin at an earlier place.
 */
export class SequenceCheck {
  /** Messages that came again. */
  repeated = 0
  /** In words. */
  readonly violations: string[] = []
  readonly #name: string
  #next = 0
  #last = -1

  constructor(name: string) {
    this.#name = name
  }

  /** Everything before this place was received. */
  get next(): number {
    return this.#next
  }

  connected(): void {
    this.#last = -1
  }

  /** @param place from 0 */
  take(place: number): void {
    if (place <= this.#last) this.violations.push(`${this.#name}: ${place} behind ${this.#last}`)
    else if (place > this.#next) this.violations.push(`${this.#name}: ${place} where ${this.#next} is due`)
    if (place < this.#next) this.repeated++
    this.#next = Math.max(this.#next, place + 1)
    this.#last = Math.max(this.#last, place)
  }
}
