import { addressKey } from './address-key.ts'

/** Milliseconds. */
const minute = 60_000
/** Most addresses that are remembered; beyond it the one that failed first is forgotten. */
const maximumAddresses = 100_000

interface Failures {
  /** When the first of them came; once there are too many, when that was. Milliseconds. */
  readonly since: number
  count: number
}

/**
 * Credentials that are not valid, by the address that presented them (contract §9): so many are taken within a minute of
 * the first; those after them are refused until a minute has passed since the first refusal.
 */
export class FailedCredentials {
  readonly #perMinute: number
  readonly #now: () => number
  /** In the order of `since`. */
  readonly #failures = new Map<string, Failures>()

  /** @param now a clock that never goes back, milliseconds */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#failures.size
  }

  /**
   * To be called for each one.
   *
   * @param address of the client, behind trusted proxies
   * @returns whether it is to be answered with `too_many_failed_credentials`: there were too many before it
   */
  note(address: string): boolean {
    const now = this.#now()
    this.#forgetBefore(now - minute)
    const key = addressKey(address)
    const failures = this.#failures.get(key) ?? this.#begin(key, { since: now, count: 0 })
    failures.count++
    const isFirstTooMany = failures.count === this.#perMinute + 1
    if (isFirstTooMany) this.#begin(key, { since: now, count: failures.count })
    return failures.count > this.#perMinute
  }

  #begin(key: string, failures: Failures): Failures {
    this.#failures.delete(key)
    this.#failures.set(key, failures)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > maximumAddresses && oldest !== undefined) this.#failures.delete(oldest)
    return failures
  }

  #forgetBefore(time: number): void {
    for (const [key, { since }] of this.#failures) {
      if (since > time) return
      this.#failures.delete(key)
    }
  }
}
