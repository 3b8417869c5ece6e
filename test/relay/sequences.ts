import { Changes } from '../helpers/changes.ts'

/** How long may pass without a message before the rest is given up, milliseconds. */
const patience = 60_000

interface Expected {
  readonly topic: string
  readonly count: number
}

/** The numbers that one subscriber has received on each topic: from 0 on, each once, if nothing is wrong. */
export class Sequences {
  readonly #next = new Map<string, number>()
  readonly #faults: string[] = []
  readonly #repeated = new Map<string, number>()
  readonly #changes = new Changes()
  count = 0

  add(topic: string, n: number): void {
    const next = this.#next.get(topic) ?? 0
    if (n === next) {
      this.#next.set(topic, next + 1)
      this.count++
    } else if (n < next) this.#repeated.set(topic, (this.#repeated.get(topic) ?? 0) + 1)
    else if (this.#faults.length < 10) this.#faults.push(`${topic}: ${n} came in the place of ${next}`)
    this.#changes.tell()
  }

  /** Resolves when everything has come, or nothing more does. */
  async until(expected: readonly Expected[]): Promise<void> {
    const isThere = () => expected.every(({ topic, count }) => (this.#next.get(topic) ?? 0) >= count)
    for (let before = -1; !isThere() && this.count > before; ) {
      before = this.count
      await this.#changes.until(isThere, patience)
    }
  }

  /** @param mayRepeat whether a message may come again */
  faults(expected: readonly Expected[], mayRepeat: boolean): readonly string[] {
    const missing = expected.flatMap(({ topic, count }) => {
      const next = this.#next.get(topic) ?? 0
      return next === count ? [] : [`${topic}: ${next} of ${count} came in order`]
    })
    const repeated = mayRepeat
      ? []
      : [...this.#repeated].map(([topic, times]) => `${topic}: ${times} came again`)
    return [...this.#faults, ...missing, ...repeated]
  }
}
