import { recordCount } from '../../core/commit-outline.ts'
import type { Commit, WriteRate } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import type { Revocation } from '../access.ts'
import { principalName } from '../principal.ts'

interface ThingRatesParts {
  readonly writesPerSecond: number
  readonly recordsPerSecond: number
  readonly onLimit: (limit: RateLimit) => void
  /** A clock that never goes back, milliseconds. */
  readonly now: () => number
}

type RateLimit = 'write_rate_exceeded' | 'record_rate_exceeded'
type ArrivingWrite = Parameters<WriteRate['enter']>[0]

/** How much a thing may write at once, in milliseconds of its rate (contract §9). */
const burst = 5_000
/** Debt up to which writes over MQTT wait, milliseconds (contract §9). */
const longestWait = 30_000
/**
 * Most bytes of a thing that wait: bodies, and what each write takes beside its body. A thing that connects again and
 * again could otherwise hold gigabytes.
 */
const mostWaiting = 8 * 1024 * 1024
const overhead = 1_024
/** What is on its way behind a refused write of a connection, until the connection is closed, must not overtake it. */
const refusedFor = 1_000
/** Milliseconds between two dropped writes of a thing that are noted. */
const noteInterval = 1_000
/** How many things are looked after before those that owe nothing are forgotten. */
const firstSweep = 1_024

interface WaitingWrite {
  /** When it may go on. */
  readonly due: number
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** What a thing has written; all times in milliseconds of the clock. */
interface Ledger {
  /** When its latest write arrived. */
  arrivedAt: number
  /** When its writes are paid. */
  writesPaid: number
  recordsPaid: number
  /** The one that came first first: their `due` only grows. */
  waiting: WaitingWrite[]
  waitingBytes: number
  timer: NodeJS.Timeout | undefined
  refusedUntil: number
  notedUntil: number
}

/**
 * The rates of all things, each by the generic cell rate algorithm: no more is kept of a thing than the time at which all
 * that it has written will be paid.
 */
export class ThingRates implements WriteRate {
  readonly #parts: ThingRatesParts
  readonly #now: () => number
  readonly #writeCost: number
  readonly #recordCost: number
  readonly #ledgers = new Map<string, Ledger>()
  #sweepAt = firstSweep
  #drains = 0

  constructor(parts: ThingRatesParts) {
    this.#parts = parts
    this.#now = parts.now
    this.#writeCost = 1_000 / parts.writesPerSecond
    this.#recordCost = 1_000 / parts.recordsPerSecond
  }

  /** How many things are looked after. */
  get size(): number {
    return this.#ledgers.size
  }

  enter(write: ArrivingWrite): Promise<void> | undefined {
    const now = this.#now()
    const ledger = this.#ledgerOf(write.thingId, now)
    const due = Math.max(ledger.writesPaid, ledger.recordsPaid) - burst
    const turn = due > now || ledger.waiting.length > 0 ? this.#hold(write, ledger, due, now) : undefined
    ledger.arrivedAt = now
    ledger.writesPaid = Math.max(ledger.writesPaid, now) + this.#writeCost
    return turn
  }

  charge(thingId: string, records: number): void {
    // May overdraw: a batch larger than the rest could otherwise never go in.
    const ledger = this.#ledgers.get(thingId)
    if (!ledger) return
    ledger.recordsPaid = Math.max(ledger.recordsPaid, ledger.arrivedAt) + records * this.#recordCost
  }

  /**
   * To be called for every commit: what other nodes have written of a thing counts here, as soon as this node knows. It is
   * so little to keep, and so soon paid, that it is kept of things that have not come to this node, too.
   *
   * @param now by the clock of receipt times, milliseconds
   */
  chargeElsewhere(commit: Commit, now: number): void {
    if (!commit.isElsewhere) return
    const { thingId, receivedAt } = commit
    const records = recordCount(commit)
    // Without records it is what came of a write: a state, or what a removal has left.
    if (records === 0) return
    // Of what this node hears late, some is paid.
    const arrivedAt = this.#now() - Math.max(0, now - receivedAt)
    const ledger = this.#ledgerOf(thingId, arrivedAt)
    ledger.writesPaid = Math.max(ledger.writesPaid, arrivedAt) + this.#writeCost
    ledger.recordsPaid = Math.max(ledger.recordsPaid, arrivedAt) + records * this.#recordCost
  }

  mayNote(thingId: string): boolean {
    const now = this.#now()
    const ledger = this.#ledgerOf(thingId, now)
    if (ledger.notedUntil > now) return false
    ledger.notedUntil = now + noteInterval
    return true
  }

  drain(): () => void {
    // Waiting writes at QoS 0 would otherwise be lost at a stop, and the stop would last as long as the debt.
    this.#drains++
    const everything = Number.POSITIVE_INFINITY
    for (const ledger of this.#ledgers.values()) this.#letGo(ledger, everything)
    return () => {
      this.#drains--
    }
  }

  /** Refuses what waits of things that are removed: it would be stored behind their removal. */
  revoke({ principals }: Pick<Revocation, 'principals'>): void {
    for (const [thingId, ledger] of this.#ledgers) {
      if (ledger.waiting.length === 0 || !principals.has(principalName({ kind: 'thing', thingId }))) continue
      for (const { reject } of this.#take(ledger, ledger.waiting.length)) {
        reject(new ThingwireError('unknown_thing'))
      }
    }
  }

  #hold(write: ArrivingWrite, ledger: Ledger, due: number, now: number): Promise<void> | undefined {
    const debt = due - now
    const limit = ledger.recordsPaid > ledger.writesPaid ? 'record_rate_exceeded' : 'write_rate_exceeded'
    const bytes = write.body.byteLength + overhead
    const isFull = ledger.waitingBytes + bytes > mostWaiting || ledger.refusedUntil > now
    if (write.door !== 'mqtt' ? debt > 0 : debt > longestWait || isFull) {
      if (write.door === 'mqtt') ledger.refusedUntil = now + refusedFor
      this.#parts.onLimit(limit)
      throw new ThingwireError(limit, undefined, { retryAfter: Math.max(1, Math.ceil(debt / 1_000)) })
    }
    if (this.#drains > 0) return undefined
    if (debt > 0) this.#parts.onLimit(limit)
    return new Promise((resolve, reject) => {
      ledger.waiting.push({ due, bytes, resolve, reject })
      ledger.waitingBytes += bytes
      if (ledger.waiting.length === 1) this.#wake(ledger, debt)
    })
  }

  #wake(ledger: Ledger, milliseconds: number): void {
    ledger.timer = setTimeout(() => this.#letGo(ledger, this.#now()), Math.max(0, Math.ceil(milliseconds)))
  }

  /** Lets everything go on that is due by then. */
  #letGo(ledger: Ledger, time: number): void {
    const firstLater = ledger.waiting.findIndex(({ due }) => due > time)
    for (const { resolve } of this.#take(ledger, firstLater === -1 ? ledger.waiting.length : firstLater))
      resolve()
    const [next] = ledger.waiting
    if (next) this.#wake(ledger, next.due - time)
  }

  #take(ledger: Ledger, count: number): WaitingWrite[] {
    clearTimeout(ledger.timer)
    const taken = ledger.waiting.splice(0, count)
    for (const { bytes } of taken) ledger.waitingBytes -= bytes
    return taken
  }

  #ledgerOf(thingId: string, now: number): Ledger {
    const known = this.#ledgers.get(thingId)
    if (known) return known
    if (this.#ledgers.size >= this.#sweepAt) this.#forgetIdle(now)
    const ledger = {
      arrivedAt: now,
      writesPaid: now,
      recordsPaid: now,
      waiting: [],
      waitingBytes: 0,
      timer: undefined,
      refusedUntil: now,
      notedUntil: now,
    }
    this.#ledgers.set(thingId, ledger)
    return ledger
  }

  /** Where nothing is owed, nothing has to be known. */
  #forgetIdle(now: number): void {
    for (const [thingId, { writesPaid, recordsPaid, waiting, refusedUntil, notedUntil }] of this.#ledgers) {
      const isIdle = Math.max(writesPaid, recordsPaid, refusedUntil, notedUntil) <= now
      if (isIdle && waiting.length === 0) this.#ledgers.delete(thingId)
    }
    this.#sweepAt = Math.max(firstSweep, 2 * this.#ledgers.size)
  }
}
