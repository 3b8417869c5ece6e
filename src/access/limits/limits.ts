import { wholeNumber } from '../../core/options/option-kinds.ts'
import { type Reason, ThingwireError } from '../../errors.ts'
import { addressKey, isLoopback } from './address-key.ts'
import { ThingRates } from './write-rate.ts'

/** Limits that an operator may set (contract §9). */
export interface LimitOptions {
  /** Of one thing, both doors together. */
  readonly writesPerSecond: number
  /** Of one thing, both doors together. */
  readonly recordsPerSecond: number
  readonly resourcesPerThing: number
  /** Live streams over HTTP. */
  readonly streamsPerThing: number
  /** Over MQTT. */
  readonly subscriptionsPerConnection: number
  readonly connectionsPerAddress: number
  readonly failedCredentialsPerMinute: number
}

export const defaultLimits: LimitOptions = {
  writesPerSecond: 1_000,
  recordsPerSecond: 20_000,
  resourcesPerThing: 10_000,
  streamsPerThing: 20,
  subscriptionsPerConnection: 5_000,
  connectionsPerAddress: 1_000,
  failedCredentialsPerMinute: 20,
}

/** What each may be. */
export const limitRules = {
  writesPerSecond: wholeNumber(1, 1_000_000),
  recordsPerSecond: wholeNumber(1, 100_000_000),
  resourcesPerThing: wholeNumber(1, 10_000_000),
  streamsPerThing: wholeNumber(1, 1_000_000),
  subscriptionsPerConnection: wholeNumber(1, 1_000_000),
  connectionsPerAddress: wholeNumber(1, 1_000_000),
  failedCredentialsPerMinute: wholeNumber(1, 1_000_000),
} as const satisfies Record<keyof LimitOptions, unknown>

const failedCredential: ReadonlySet<Reason> = new Set([
  'unknown_thing_token',
  'invalid_session',
  'unknown_activation_code',
])

const limitNames = [
  'write_rate_exceeded',
  'record_rate_exceeded',
  'too_many_waiting',
  'too_many_resources',
  'too_many_streams',
  'too_many_connections',
  'too_many_failed_credentials',
  'too_many_subscriptions',
] as const satisfies readonly (Reason | 'too_many_subscriptions')[]

/** What was refused or held up for a limit. */
type Limit = (typeof limitNames)[number]

/** The limits of one server, and how often each was met. */
export class Limits {
  readonly options: LimitOptions
  readonly failedCredentials: FailedCredentials
  readonly connections: AddressCounts
  /** Over HTTP, by thing. */
  readonly streams: BoundedCounts
  readonly rate: ThingRates
  readonly #met = new Map<Limit, number>(limitNames.map(limit => [limit, 0]))

  /** @param now a clock that never goes back, milliseconds */
  constructor(options: Partial<LimitOptions> = {}, now = () => performance.now()) {
    this.options = { ...defaultLimits, ...options }
    this.failedCredentials = new FailedCredentials(this.options.failedCredentialsPerMinute, now)
    this.connections = new AddressCounts(this.options.connectionsPerAddress)
    this.streams = new BoundedCounts(this.options.streamsPerThing)
    this.rate = new ThingRates({ ...this.options, onLimit: limit => this.count(limit), now })
  }

  /**
   * To be called with what a request of this address was refused with.
   *
   * @returns what to answer: the error, or `too_many_failed_credentials` in its place where the address has presented
   * too many credentials that are not valid
   */
  countFailure(error: ThingwireError, address: string): ThingwireError {
    const retryAfter = failedCredential.has(error.reason) ? this.failedCredentials.note(address) : 0
    if (retryAfter === 0) return error
    this.count('too_many_failed_credentials')
    const text = `${error.reason}: ${error.message}; the address has sent too many invalid credentials, which are refused for another ${retryAfter} s; a valid one is accepted at once`
    return new ThingwireError('too_many_failed_credentials', text, { retryAfter })
  }

  /** A limit was met. */
  count(limit: Limit): void {
    this.#met.set(limit, (this.#met.get(limit) ?? 0) + 1)
  }

  /** How often each limit was met since the start, those that never were included. */
  get met(): ReadonlyMap<Limit, number> {
    return this.#met
  }
}

/** How much of something there is at one time, by thing or by address. */
class BoundedCounts {
  readonly #maximum: number
  readonly #counts = new Map<string, number>()
  #total = 0

  /** @param maximum of each */
  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** How many things or addresses have any. */
  get size(): number {
    return this.#counts.size
  }

  /** Of all of them together. */
  get total(): number {
    return this.#total
  }

  /** @returns to be called once when it is over; undefined: there is as much as may be */
  enter(name: string): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#maximum) return undefined
    this.#counts.set(name, count + 1)
    this.#total++
    return () => this.#leave(name)
  }

  #leave(name: string): void {
    this.#total--
    const count = (this.#counts.get(name) ?? 0) - 1
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}

/** Connections that are open, by address; those of the machine itself are not counted (contract §9). */
export class AddressCounts extends BoundedCounts {
  override enter(address: string): (() => void) | undefined {
    return isLoopback(address) ? () => {} : super.enter(addressKey(address))
  }
}

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
   * @returns for how many more seconds such ones are answered with `too_many_failed_credentials`, this one too; 0: it is not
   */
  note(address: string): number {
    const now = this.#now()
    this.#forgetBefore(now - minute)
    const key = addressKey(address)
    const failures = this.#failures.get(key) ?? this.#begin(key, { since: now, count: 0 })
    failures.count++
    if (failures.count <= this.#perMinute) return 0
    const isFirstTooMany = failures.count === this.#perMinute + 1
    if (isFirstTooMany) this.#begin(key, { since: now, count: failures.count })
    return Math.ceil((minute - (isFirstTooMany ? 0 : now - failures.since)) / 1_000)
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
