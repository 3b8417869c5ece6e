/** What was written, what was answered, and whether the store agrees. */

/** A write of the load; each of its values occurs nowhere else. */
export interface PlannedWrite {
  readonly name: string
  /** Place of its thing in the list of things. */
  readonly thing: number
  /** JSON, as it is posted. */
  readonly body: string
  readonly values: readonly string[]
  /** Has explicit datetimes or a write id: sent again, it is stored once (contract §4). */
  readonly repeatable: boolean
}

/** `acked`: 201 was received in full. `uncertain`: nothing was, or `store_timeout` (contract §4). `refused`: all else. */
export type Outcome = 'uncertain' | 'acked' | 'refused'

/** What breaks the promises of contract §4; names of writes or values. */
export interface Violations {
  /** Acked writes of which records are not there. */
  readonly missing: readonly string[]
  /** Writes of which some records are there and some are not. */
  readonly halves: readonly string[]
  /** Writes of which records are there more than once. */
  readonly repeated: readonly string[]
  /** Refused writes of which records are there. */
  readonly refusedKept: readonly string[]
  /** Values that nobody wrote. */
  readonly unknown: readonly string[]
}

export class Ledger {
  readonly #writes = new Map<PlannedWrite, Outcome>()

  add(write: PlannedWrite): void {
    this.#writes.set(write, 'uncertain')
  }

  settle(write: PlannedWrite, outcome: Outcome): void {
    this.#writes.set(write, outcome)
  }

  withOutcome(outcome: Outcome): PlannedWrite[] {
    return [...this.#writes].filter(([, known]) => known === outcome).map(([write]) => write)
  }

  /** @param stored every value in the store, as often as it is there */
  check(stored: readonly string[]): Violations {
    const counts = new Map<string, number>()
    for (const value of stored) counts.set(value, (counts.get(value) ?? 0) + 1)
    const found = [...this.#writes].map(([{ name, values }, outcome]) => ({
      name,
      outcome,
      total: values.length,
      present: values.filter(value => counts.has(value)).length,
      isRepeated: values.some(value => (counts.get(value) ?? 0) > 1),
    }))
    const known = new Set([...this.#writes.keys()].flatMap(({ values }) => values))
    const names = (violates: (write: (typeof found)[number]) => boolean) =>
      found.filter(violates).map(({ name }) => name)
    return {
      missing: names(({ outcome, present, total }) => outcome === 'acked' && present < total),
      halves: names(({ present, total }) => present > 0 && present < total),
      repeated: names(({ isRepeated }) => isRepeated),
      refusedKept: names(({ outcome, present }) => outcome === 'refused' && present > 0),
      unknown: [...counts.keys()].filter(value => !known.has(value)),
    }
  }
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
}
