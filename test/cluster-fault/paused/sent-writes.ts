/** How often a write may be stored. */
export type Copies = 'never' | 'once' | 'at most once' | 'at least once'

interface SentWrite {
  readonly value: string
  readonly writer: string
  copies: Copies
  /** On the clock of `performance.now()`, like all of these, milliseconds; of the first time that it was sent. */
  sentAt: number
  ackedAt: number | undefined
}

const bounds: Readonly<Record<Copies, readonly [least: number, most: number]>> = {
  never: [0, 0],
  once: [1, 1],
  'at most once': [0, 1],
  'at least once': [1, Number.POSITIVE_INFINITY],
}

/** What clients have sent to one resource, each value once, and what of it may be stored, and in which order. */
export class SentWrites {
  readonly #writes = new Map<string, SentWrite>()
  readonly #now: () => number

  /** @param now a clock that does not go back, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** @param writer its writes are sent in order, over one connection after another */
  send(value: string, copies: Copies, writer = 'client'): void {
    this.#writes.set(value, { value, writer, copies, sentAt: this.#now(), ackedAt: undefined })
  }

  /** By whichever of its copies. */
  acked(value: string): void {
    this.#of(value).ackedAt ??= this.#now()
  }

  /** What is found out about a write later. */
  allow(value: string, copies: Copies): void {
    this.#of(value).copies = copies
  }

  isAcked(value: string): boolean {
    return this.#of(value).ackedAt !== undefined
  }

  /**
   * What is wrong with what is stored, in words.
   *
   * @param stored oldest first
   */
  check(stored: readonly string[]): string[] {
    const unknown = stored.filter(value => !this.#writes.has(value))
    if (unknown.length > 0) return [`stored but never sent: ${unknown.join(', ')}`]
    return [...this.#checkCounts(stored), ...this.#checkOrder(stored), ...this.#checkLatest(stored)]
  }

  #checkCounts(stored: readonly string[]): string[] {
    return [...this.#writes.values()].flatMap(({ value, copies }) => {
      const count = stored.filter(each => each === value).length
      const [least, most] = bounds[copies]
      return count < least || count > most ? [`${value} is stored ${count} times, expected ${copies}`] : []
    })
  }

  #checkOrder(stored: readonly string[]): string[] {
    const wrong: string[] = []
    let latestSent: SentWrite | undefined
    const begun = new Map<string, SentWrite>()
    const places = new Map([...this.#writes.keys()].map((value, place) => [value, place]))
    const seen = new Set<string>()
    for (const value of stored) {
      const write = this.#of(value)
      if (latestSent && write.ackedAt !== undefined && write.ackedAt < latestSent.sentAt) {
        wrong.push(
          `${value} is stored behind ${latestSent.value}, which was sent when ${value} was acknowledged`,
        )
      }
      if (!latestSent || write.sentAt > latestSent.sentAt) latestSent = write
      if (seen.has(value)) continue
      seen.add(value)
      const before = begun.get(write.writer)
      if (before && (places.get(before.value) ?? 0) > (places.get(value) ?? 0)) {
        wrong.push(`${value} is stored behind ${before.value}, which ${write.writer} sent later`)
      }
      begun.set(write.writer, write)
    }
    return [...new Set(wrong)]
  }

  /** Where the write that was acknowledged last was sent when all others were. */
  #checkLatest(stored: readonly string[]): string[] {
    const acked = [...this.#writes.values()].flatMap(({ value, sentAt, ackedAt }) =>
      ackedAt === undefined ? [] : [{ value, sentAt, ackedAt }],
    )
    const [last, before] = acked.toSorted((one, other) => other.ackedAt - one.ackedAt)
    if (!last || (before && before.ackedAt > last.sentAt) || stored.at(-1) === last.value) return []
    return [`latest is ${stored.at(-1)}, the last acknowledged is ${last.value}`]
  }

  #of(value: string): SentWrite {
    const write = this.#writes.get(value)
    if (!write) throw new Error(`${value} was not sent`)
    return write
  }
}
