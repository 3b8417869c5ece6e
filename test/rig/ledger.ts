import { readAll, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { doorOf, isAtQos, type PlannedWrite } from './writes.ts'

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
  /** What devices saw that MQTT does not allow, in words. */
  readonly breaches: readonly string[]
}

/** Times on the clock of `performance.now()`, milliseconds. */
export interface Ack {
  readonly name: string
  /** The last time. */
  readonly sentAt: number
  readonly at: number
}

interface Entry {
  readonly write: PlannedWrite
  outcome: Outcome
  /** How often it was sent. */
  sent: number
  sentAt: number
}

export class Ledger {
  /** In the order in which they were received: 201, PUBACK and PUBREC. */
  readonly acked: Ack[] = []
  readonly #entries = new Map<string, Entry>()
  readonly #breaches: string[] = []

  /** To be called just before the write is sent. */
  add(write: PlannedWrite): void {
    this.#entries.set(write.name, { write, outcome: 'uncertain', sent: 1, sentAt: performance.now() })
  }

  /** To be called just before it is sent again. */
  resend(write: PlannedWrite): void {
    const entry = this.#entryOf(write)
    if (entry.outcome !== 'uncertain')
      throw new Error(`${write.name} is sent again, although ${entry.outcome}`)
    entry.sent++
    entry.sentAt = performance.now()
  }

  settle(write: PlannedWrite, outcome: Outcome): void {
    const entry = this.#entryOf(write)
    // PUBCOMP comes after PUBREC.
    if (outcome === 'acked' && entry.outcome !== 'acked')
      this.acked.push({ name: write.name, sentAt: entry.sentAt, at: performance.now() })
    entry.outcome = outcome
  }

  breach(text: string): void {
    this.#breaches.push(text)
  }

  /** @param since those that were sent, or sent again, since then only, on the clock of `performance.now()` */
  withOutcome(outcomes: readonly Outcome[], since = 0): PlannedWrite[] {
    return [...this.#entries.values()]
      .filter(({ outcome, sentAt }) => outcomes.includes(outcome) && sentAt >= since)
      .map(({ write }) => write)
  }

  /** @param over a way or a door; default: all */
  acks(over?: string): number {
    const acked = this.withOutcome(['acked', 'completed'])
    return over === undefined
      ? acked.length
      : acked.filter(({ way }) => way === over || doorOf(way) === over).length
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

  /** The same in words, such as `missing: n1-h-0-12`. */
  violations(stored: readonly string[]): string[] {
    return Object.entries(this.check(stored)).flatMap(([kind, names]: [string, readonly string[]]) =>
      names.map(name => `${kind}: ${name}`),
    )
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
  return write.repeatable || isAtQos(2, write.way) ? 1 : sent
}

/** Whole writes among those given. */
export function wholeWrites(writes: readonly PlannedWrite[], stored: readonly string[]): PlannedWrite[] {
  const present = new Set(stored)
  return writes.filter(({ values }) => values.length > 0 && values.every(value => present.has(value)))
}

/** Value of what is delivered and not stored: who is connected gets it, and there is no place for it in any order. */
export const fleeting = 'fleeting'

/** Every value of every resource of the things, as often as it is stored. */
export async function storedValues(server: ServerAddress, things: readonly Thing[]): Promise<string[]> {
  const values: string[] = []
  for (const thing of things) {
    const response = await fetch(`${server.url}/v2/things/${thing.thingToken}/resources`)
    const { resources } = (await response.json()) as { resources: string[] }
    for (const key of resources) {
      for (const { value } of await readAll(server, thing, key)) values.push(String(value))
    }
  }
  return values
}

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
