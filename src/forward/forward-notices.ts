import type { RefusedRecord } from '../core/forward-report.ts'
import { formatDatetime } from '../core/record/datetime.ts'

export interface ForwardLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Minimum time between two notices of a kind that repeats often, milliseconds. */
const logEvery = 60_000
/** Minimum number of records that counts as a backlog. */
const backlog = 1_000

export class ForwardNotices {
  readonly #log: ForwardLog
  /** Time of the last notice of each kind, monotonic clock, milliseconds. */
  readonly #loggedAt = new Map<string, number>()

  constructor(log: ForwardLog) {
    this.#log = log
  }

  /** @param at when the server began to run without forwarding, milliseconds since 1970 */
  left(at: number): void {
    this.#log.error(
      { since: formatDatetime(at) },
      'the server has run without forward: what was written meanwhile will not be forwarded; it stays in the store here',
    )
  }

  /** @param problem undefined once the central server can be reached again */
  link(target: string, problem: string | undefined): void {
    if (problem === undefined) this.#log.info({ target }, 'the central server can be reached again')
    else this.#log.warn({ target }, `cannot reach the central server: ${problem}; trying again`)
  }

  held(thingId: string, why: string): void {
    this.#log.error({ thingId }, `the central server does not accept the thing: ${why}; its records wait`)
  }

  freed(thingId: string): void {
    this.#log.info({ thingId }, 'the central server accepts the thing')
  }

  /** @param count number of refused records since forwarding began */
  refused({ thingId, key, datetime, reason, message }: RefusedRecord, count: number): void {
    if (!this.#isDue('refused')) return
    const fields = { thingId, key, datetime: formatDatetime(datetime), reason, refused: count }
    this.#log.warn(fields, `the central server has refused a record for good: ${message}`)
  }

  /** @param count number of dropped records since forwarding began */
  dropped(count: number, limit: number): void {
    if (!this.#isDue('dropped')) return
    this.#log.error(
      { dropped: count, limit },
      'more waits for the central server than forwardLogLimit: the oldest records will not be forwarded; they stay in the store here',
    )
  }

  /** @param oldest receipt time of the oldest waiting record, milliseconds since 1970 */
  backlog(
    { records, bytes }: { readonly records: number; readonly bytes: number },
    forwarded: number,
    oldest: number | undefined,
  ): void {
    if (records < backlog || !this.#isDue('backlog')) return
    const since = oldest === undefined ? {} : { oldest: formatDatetime(oldest) }
    this.#log.info({ waiting: records, bytes, forwarded, ...since }, 'records wait for the central server')
  }

  /** @param fault why the new map is not used; undefined if it is used */
  map(fault: Error | undefined): void {
    if (fault) this.#log.error({}, `${fault.message}; forwarding continues with the previous thing map`)
    else this.#log.info({}, 'the thing map has changed')
  }

  store(error: unknown): void {
    if (this.#isDue('store'))
      this.#log.warn({ err: error }, 'forwarding failed because of the store; trying again')
  }

  #isDue(what: string): boolean {
    const now = performance.now()
    const loggedAt = this.#loggedAt.get(what)
    if (loggedAt !== undefined && now - loggedAt < logEvery) return false
    this.#loggedAt.set(what, now)
    return true
  }
}
