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

  /** The first of each kind that is wrong: others follow from it. */
  #checkOrder(stored: readonly string[]): string[] {
    return [
      ...[...this.#behindWhatWasSentLater(stored)].slice(0, 1),
      ...[...this.#outOfTurn(stored)].slice(0, 1),
    ]
  }

  *#behindWhatWasSentLater(stored: readonly string[]): Generator<string> {
    let latest: SentWrite | undefined
    for (const value of stored) {
      const write = this.#of(value)
      if (latest && write.ackedAt !== undefined && write.ackedAt < latest.sentAt)
        yield `${value} is stored behind ${latest.value}, which was sent when ${value} was acknowledged`
      if (!latest || write.sentAt > latest.sentAt) latest = write
    }
  }

  /** Looks at the first copy of each. */
  *#outOfTurn(stored: readonly string[]): Generator<string> {
    const places = new Map([...this.#writes.keys()].map((value, place) => [value, place]))
    const latest = new Map<string, { readonly value: string; readonly place: number }>()
    for (const value of new Set(stored)) {
      const { writer } = this.#of(value)
      const place = places.get(value) ?? 0
      const before = latest.get(writer)
      if (before && before.place > place)
        yield `${value} is stored behind ${before.value}, which ${writer} sent later`
      else latest.set(writer, { value, place })
    }
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
