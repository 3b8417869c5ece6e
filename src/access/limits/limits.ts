import { wholeNumber } from '../../core/options/option-kinds.ts'
import { type Reason, ThingwireError } from '../../errors.ts'
import { addressKey, isLoopback } from './address-key.ts'
import { ThingRates } from './write-rate.ts'

/** The limits that an operator can set (contract §9). */
export interface LimitOptions {
  /** Rate limit of each thing, over HTTP and MQTT together. */
  readonly writesPerSecond: number
  /** Rate limit of each thing, over HTTP and MQTT together. */
  readonly recordsPerSecond: number
  readonly resourcesPerThing: number
  /** Maximum number of live streams over HTTP. */
  readonly streamsPerThing: number
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

type Limit = (typeof limitNames)[number]

/** The limits of one server, and how often each was reached. */
export class Limits {
  readonly options: LimitOptions
  readonly failedCredentials: FailedCredentials
  readonly connections: AddressCounts
  /** Live streams over HTTP, counted by thing. */
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
   * Counts a refused request against its address if the request had an invalid credential.
   *
   * @returns the error to send: `too_many_failed_credentials` after too many invalid credentials from the address, else `error`
   */
  countFailure(error: ThingwireError, address: string): ThingwireError {
    const retryAfter = failedCredential.has(error.reason) ? this.failedCredentials.note(address) : 0
    if (retryAfter === 0) return error
    this.count('too_many_failed_credentials')
    const text = `${error.reason}: ${error.message.replace(/\.$/, '')}; the address has sent too many invalid credentials, which are refused for another ${retryAfter} s; a valid one is accepted at once`
    return new ThingwireError('too_many_failed_credentials', text, { retryAfter })
  }

  count(limit: Limit): void {
    this.#met.set(limit, (this.#met.get(limit) ?? 0) + 1)
  }

  /** How often each limit was reached since the start; 0 for a limit that was never reached. */
  get met(): ReadonlyMap<Limit, number> {
    return this.#met
  }
}

/** Counts streams or connections, by thing or by address. */
class BoundedCounts {
  readonly #maximum: number
  readonly #counts = new Map<string, number>()
  #total = 0

  /** @param maximum maximum count of each thing or address */
  constructor(maximum: number) {
    this.#maximum = maximum
  }

  /** Number of things or addresses whose count is not 0. */
  get size(): number {
    return this.#counts.size
  }

  get total(): number {
    return this.#total
  }

  /** Adds 1 to a count. @returns a function that subtracts 1 again, to be called once; undefined if the maximum is reached */
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

/** Counts open connections by address. Connections from the server's own machine are not counted (contract §9). */
export class AddressCounts extends BoundedCounts {
  override enter(address: string): (() => void) | undefined {
    return isLoopback(address) ? () => {} : super.enter(addressKey(address))
  }
}

const minute = 60_000
/** Maximum number of addresses that are remembered. If there are more, the oldest is forgotten. */
const maximumAddresses = 100_000

interface Failures {
  /** Time of the first failure or, if there have been too many failures, of the first refusal; milliseconds. */
  readonly since: number
  count: number
}

/**
 * Counts invalid credentials by the address that sent them (contract §9). After `perMinute` of them within a minute, further ones get
 * `too_many_failed_credentials`, until a minute after the first such answer.
 */
export class FailedCredentials {
  readonly #perMinute: number
  readonly #now: () => number
  /** By address key, in ascending order of `since`. */
  readonly #failures = new Map<string, Failures>()

  /** @param now a clock that never goes back, milliseconds */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
  }

  get size(): number {
    return this.#failures.size
  }

  /**
   * Counts an invalid credential.
   *
   * @param address the address of the client itself, not of a trusted proxy
   * @returns the number of seconds for which invalid credentials are refused, starting with this one; 0 if there are not too many
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
