import type { PlannedWrite, Way } from './planned-write.ts'

/** What was written, what was answered, and whether the store agrees. */

/**
 * `acked`: 201 was received in full, or PUBACK, or PUBREC. `completed`: PUBCOMP was received, too. `uncertain`: nothing
 * was, or `store_timeout` (contract §4). `refused`: all else.
 */
export type Outcome = 'uncertain' | 'acked' | 'completed' | 'refused'

/** What breaks the promises of contract §4; names of writes or values. */
export interface Violations {
  /** Acked writes of which records are not there. */
  readonly missing: readonly string[]
  /** Writes of which some records are there and some are not, or not as often as others. */
  readonly halves: readonly string[]
  /** Writes of which records are there more often than the contract allows. */
  readonly repeated: readonly string[]
  /** Refused writes of which records are there. */
  readonly refusedKept: readonly string[]
  /** Values that nobody wrote. */
  readonly unknown: readonly string[]
  /** What devices saw that MQTT 3.1.1 does not allow, in words. */
  readonly breaches: readonly string[]
}

interface Entry {
  readonly write: PlannedWrite
  outcome: Outcome
  /** How often it was sent. */
  sent: number
  readonly sentAt: number
  ackedAt: number
}

export class Ledger {
  readonly #entries = new Map<string, Entry>()
  readonly #breaches: string[] = []

  /** To be called just before the write is sent. */
  add(write: PlannedWrite): void {
    const sentAt = performance.now()
    this.#entries.set(write.name, { write, outcome: 'uncertain', sent: 1, sentAt, ackedAt: NaN })
  }

  /** To be called just before it is sent again. */
  resend(write: PlannedWrite): void {
    const entry = this.#entryOf(write)
    if (entry.outcome !== 'uncertain')
      throw new Error(`${write.name} is sent again, although ${entry.outcome}`)
    entry.sent++
  }

  settle(write: PlannedWrite, outcome: Outcome): void {
    const entry = this.#entryOf(write)
    entry.outcome = outcome
    if (Number.isNaN(entry.ackedAt)) entry.ackedAt = performance.now()
  }

  breach(text: string): void {
    this.#breaches.push(text)
  }

  withOutcome(...outcomes: readonly Outcome[]): PlannedWrite[] {
    return [...this.#entries.values()]
      .filter(({ outcome }) => outcomes.includes(outcome))
      .map(({ write }) => write)
  }

  /** Over one way, or over all. */
  acks(way?: Way): number {
    const acked = this.withOutcome('acked', 'completed')
    return way === undefined ? acked.length : acked.filter(write => write.way === way).length
  }

  /** From just before each acked write of a run was sent until its ack was received, milliseconds. */
  waits(run: string): number[] {
    return [...this.#entries.values()]
      .filter(({ write, outcome }) => write.name.startsWith(`${run}-`) && isAcked(outcome))
      .map(({ sentAt, ackedAt }) => ackedAt - sentAt)
  }

  /** @param stored every value in the store, as often as it is there */
  check(stored: readonly string[]): Violations {
    const counts = new Map<string, number>()
    for (const value of stored) counts.set(value, (counts.get(value) ?? 0) + 1)
    const found = [...this.#entries.values()].map(entry => {
      const copies = entry.write.values.map(value => counts.get(value) ?? 0)
      return { ...entry, fewest: Math.min(...copies), most: Math.max(...copies) }
    })
    const known = new Set([...this.#entries.values()].flatMap(({ write }) => write.values))
    const names = (violates: (entry: (typeof found)[number]) => boolean) =>
      found.filter(violates).map(({ write }) => write.name)
    return {
      missing: names(({ outcome, fewest }) => isAcked(outcome) && fewest === 0),
      halves: names(({ fewest, most }) => fewest < most),
      repeated: names(entry => entry.most > copiesAllowed(entry)),
      refusedKept: names(({ outcome, most }) => outcome === 'refused' && most > 0),
      unknown: [...counts.keys()].filter(value => !known.has(value)),
      breaches: [...this.#breaches],
    }
  }

  #entryOf({ name }: PlannedWrite): Entry {
    const entry = this.#entries.get(name)
    if (!entry) throw new Error(`${name} is not in the ledger`)
    return entry
  }
}

function isAcked(outcome: Outcome): boolean {
  return outcome === 'acked' || outcome === 'completed'
}

/** Contract §4, resend: at least once is for what has no datetime and no id, and did not come at QoS 2. */
function copiesAllowed({ write, sent }: Entry): number {
  return write.repeatable || write.way === 'QoS 2' ? 1 : sent
}

/** Whole writes among those given. */
export function wholeWrites(writes: readonly PlannedWrite[], stored: readonly string[]): PlannedWrite[] {
  const present = new Set(stored)
  return writes.filter(({ values }) => values.every(value => present.has(value)))
}

export function countViolations(violations: Violations): number {
  return Object.values(violations).reduce((sum, names) => sum + names.length, 0)
}

export const noViolations: Violations = {
  missing: [],
  halves: [],
  repeated: [],
  refusedKept: [],
  unknown: [],
  breaches: [],
}
