import { SlowArrival } from './slow-arrival.ts'
import { UnaskedPings } from './unasked-pings.ts'

/** What a connection is like when it is looked at. */
export interface Look {
  /** Milliseconds, of a monotonic clock. */
  readonly now: number
  /** The process was paused: what the client has sent meanwhile is still to be read. */
  readonly wasPaused: boolean
  /** The client is not read at the moment, because of a limit of ours. */
  readonly isLimited: boolean
  /** Nothing of it waits, read or unread. */
  readonly isIdle: boolean
  /** Bytes that were received of what is begun; undefined: nothing is. */
  readonly unfinishedBytes: number | undefined
}

/** What is to be done: the client is silent, it does not finish a packet, or it is to be told that it was heard. */
export type Verdict = 'silent' | 'unfinished' | 'ping' | undefined

/**
 * Whether a client is still there (MQTT-3.1.2-24). It is not taken for silent, or for slow, while it is we who do not listen, or
 * while a packet of it is under way; one whose packet does not come to its end is closed.
 */
export class SignsOfLife {
  readonly #arrival = new SlowArrival()
  #pings = new UnaskedPings(0)
  /** One and a half keep-alives, milliseconds. */
  #patience = Number.POSITIVE_INFINITY
  #heardAt = 0
  /** At the look before. */
  #unfinishedBytes: number | undefined

  /** CONNECT has come. @param keepAlive seconds; 0: none */
  connected(keepAlive: number, now: number): void {
    this.#pings = new UnaskedPings(keepAlive)
    if (keepAlive > 0) this.#patience = keepAlive * 1_500
    this.#heardAt = now
  }

  /** A packet has come: any says that the client is there. */
  heard(now: number): void {
    this.#heardAt = now
    this.#arrival.restart()
  }

  /** PINGREQ has come, and is answered. */
  answered(now: number): void {
    this.#pings.answered(now)
  }

  /** How long a broker that does not see all packets may hear nothing of them, milliseconds. */
  get interval(): number {
    return this.#patience / 3
  }

  /** To be called every half second. */
  look({ now, wasPaused, isLimited, isIdle, unfinishedBytes }: Look): Verdict {
    const before = this.#unfinishedBytes
    this.#unfinishedBytes = unfinishedBytes
    if (wasPaused || isLimited) {
      this.#heardAt = now
      this.#arrival.restart()
    } else if (this.#arrival.isOverdue(unfinishedBytes, now)) {
      return 'unfinished'
    } else if (unfinishedBytes !== undefined && unfinishedBytes !== before) {
      this.#heardAt = now
    }
    if (now - this.#heardAt > this.#patience) return 'silent'
    return this.#pings.isDue(isLimited, isIdle, now) ? 'ping' : undefined
  }
}
