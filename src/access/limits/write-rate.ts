import { recordCount } from '../../core/commit-outline.ts'
import type { Commit, WriteRate } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import type { Revocation } from '../access.ts'
import { principalName } from '../principal.ts'

interface ThingRatesParts {
  readonly writesPerSecond: number
  readonly recordsPerSecond: number
  readonly onLimit: (limit: 'write_rate_exceeded' | 'record_rate_exceeded') => void
  /** A clock that never goes back, milliseconds. */
  readonly now: () => number
}

type ArrivingWrite = Parameters<WriteRate['enter']>[0]

/** Largest burst of a thing: as much as its rate allows in this time, milliseconds (contract §9). */
const burst = 5_000
/** Largest debt of a thing at which its MQTT writes wait instead of being refused, milliseconds (contract §9). */
const longestWait = 30_000
/** Maximum size of a thing's waiting writes with overhead, bytes. Without it, a thing that keeps reconnecting could fill memory. */
const mostWaiting = 8 * 1024 * 1024
/** Memory that a waiting write takes in addition to its body, bytes. */
const overhead = 1_024
/** How long all MQTT writes of a thing are refused after one was refused, milliseconds: enough for its connection to close. */
const refusedFor = 1_000
/** Minimum time between two entries in a thing's list of refused writes for writes that exceed the rate, milliseconds. */
const noteInterval = 1_000
/** Number of ledgers at which idle ledgers are removed for the first time. */
const firstSweep = 1_024

interface WaitingWrite {
  readonly due: number
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** The debt of a thing. All times are in milliseconds of the clock `now`. */
interface Ledger {
  /** Arrival of the latest write. */
  arrivedAt: number
  /** When all writes so far will be paid for. */
  writesPaid: number
  /** When all records so far will be paid for. */
  recordsPaid: number
  /** The waiting writes, in order of arrival, which is also ascending order of `due`. */
  waiting: WaitingWrite[]
  waitingBytes: number
  timer: NodeJS.Timeout | undefined
  refusedUntil: number
  notedUntil: number
}

/** Limits the rates of all things by the generic cell rate algorithm, which needs only `writesPaid` and `recordsPaid`. */
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
    // The charge may exceed the burst: otherwise a batch larger than the burst could never be written.
    const ledger = this.#ledgers.get(thingId)
    if (!ledger) return
    ledger.recordsPaid = Math.max(ledger.recordsPaid, ledger.arrivedAt) + records * this.#recordCost
  }

  /**
   * Charges a thing for a commit of another node; ignores commits of this node. Call this for every commit. Even things that never
   * write to this node get a ledger; ledgers are small and soon removed.
   *
   * @param now the present receipt time, milliseconds
   */
  chargeElsewhere(commit: Commit, now: number): void {
    if (!commit.isElsewhere) return
    const { thingId, receivedAt } = commit
    const records = recordCount(commit)
    // A commit without records is not a write by itself: it sets a state or, when records are removed, the latest record.
    if (records === 0) return
    // The debt has been shrinking since the other node received the write, even if the commit arrives here late.
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
    // Waiting writes go on now. Otherwise a stop would lose the QoS 0 writes among them, and would last until the debt is paid.
    this.#drains++
    const everything = Number.POSITIVE_INFINITY
    for (const ledger of this.#ledgers.values()) this.#letGo(ledger, everything)
    return () => {
      this.#drains--
    }
  }

  /** Refuses waiting writes of removed things, which would otherwise be stored after the removal. */
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

  /** Resumes all writes that are due at or before `time`. */
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

  #forgetIdle(now: number): void {
    for (const [thingId, { writesPaid, recordsPaid, waiting, refusedUntil, notedUntil }] of this.#ledgers) {
      const isIdle = Math.max(writesPaid, recordsPaid, refusedUntil, notedUntil) <= now
      if (isIdle && waiting.length === 0) this.#ledgers.delete(thingId)
    }
    this.#sweepAt = Math.max(firstSweep, 2 * this.#ledgers.size)
  }
}
