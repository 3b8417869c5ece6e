/** Lines of one kind that are written in a period. */
const writtenPerKind = 5
/** Milliseconds. */
const defaultPeriod = 60_000
/** Kinds that are told apart in a period; lines of further ones are one kind together. */
const maximumKinds = 64

/** Lines of one kind that were not written. */
export interface HeldBack {
  /** As pino counts levels: 30 is `info`, 50 is `error`. */
  readonly level: number
  readonly kind: string
  readonly suppressed: number
}

interface Kind {
  readonly level: number
  readonly kind: string
  lines: number
}

/**
 * What keeps a log from being filled by who sends much that is worth a line: of each kind of line the first five a
 * minute are written, the others counted. Memory is bounded, whatever is logged.
 */
export class LogSampling {
  readonly #tell: (heldBack: HeldBack) => void
  readonly #period: number
  readonly #kinds = new Map<string, Kind>()
  #end: NodeJS.Timeout | undefined

  /**
   * @param tell called at the end of a minute for each kind of which lines were held back
   * @param period milliseconds, for a test
   */
  constructor(tell: (heldBack: HeldBack) => void, period = defaultPeriod) {
    this.#tell = tell
    this.#period = period
  }

  /** @returns whether a line is to be written; else it is counted */
  admits(level: number, kind: string): boolean {
    this.#end ??= setTimeout(() => this.endPeriod(), this.#period).unref()
    const known = this.#kinds.get(`${level} ${kind}`) ?? this.#newKind(level, kind)
    known.lines++
    return known.lines <= writtenPerKind
  }

  /** Tells what was held back so far, and begins anew. */
  endPeriod(): void {
    clearTimeout(this.#end)
    this.#end = undefined
    const kinds = [...this.#kinds.values()]
    this.#kinds.clear()
    for (const { level, kind, lines } of kinds) {
      if (lines > writtenPerKind) this.#tell({ level, kind, suppressed: lines - writtenPerKind })
    }
  }

  #newKind(level: number, kind: string): Kind {
    const isTold = this.#kinds.size < maximumKinds
    const made = { level, kind: isTold ? kind : 'lines of other kinds', lines: 0 }
    const name = `${level} ${made.kind}`
    const known = this.#kinds.get(name)
    if (known) return known
    this.#kinds.set(name, made)
    return made
  }
}
