export interface Tick {
  /** Milliseconds, of a monotonic clock. */
  readonly now: number
  /** The process was paused: packets that the client has sent meanwhile are still unread. */
  readonly wasPaused: boolean
  /** A limit keeps the server from reading the client. */
  readonly isLimited: boolean
  /** No packet is pending or unread. */
  readonly isIdle: boolean
  /** Bytes received of the packet that is still arriving; undefined: there is none. */
  readonly unfinishedBytes: number | undefined
}

/** `silent`: the keep-alive is over. `unfinished`: a packet stopped arriving. `ping`: an unasked PINGRESP is due. */
export type Verdict = 'silent' | 'unfinished' | 'ping' | undefined

/**
 * The keep-alive of one client (MQTT-3.1.2-24). A client is neither silent nor slow while a limit keeps the server from reading it,
 * nor silent while a packet is arriving.
 */
export class KeepAlive {
  readonly #arrival = new SlowArrival()
  #pings = new UnaskedPings(0)
  /** One and a half keep-alives, milliseconds. */
  #patience = Number.POSITIVE_INFINITY
  #heardAt = 0
  /** At the previous tick. */
  #unfinishedBytes: number | undefined

  /** @param keepAlive of CONNECT, seconds; 0: none */
  connected(keepAlive: number, now: number): void {
    this.#pings = new UnaskedPings(keepAlive)
    if (keepAlive > 0) this.#patience = keepAlive * 1_500
    this.#heardAt = now
  }

  heard(now: number): void {
    this.#heardAt = now
    this.#arrival.restart()
  }

  answered(now: number): void {
    this.#pings.answered(now)
  }

  /** Interval of the PINGREQs to Aedes, which does not see all packets of the client, milliseconds. */
  get interval(): number {
    return this.#patience / 3
  }

  /** Call it every half second. */
  tick({ now, wasPaused, isLimited, isIdle, unfinishedBytes }: Tick): Verdict {
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

/** Milliseconds. */
const arrivalPeriod = 60_000
/** Bytes: 1 KiB a second. */
const leastGrowth = 60 * 1024

/**
 * Notices a packet or message that stops arriving: it must end or grow by 60 KiB within each minute, since it stays in memory until
 * it ends. A modem with 1 KiB/s can send the largest packet; a slower one can send packets that take less than a minute.
 */
export class SlowArrival {
  #since: number | undefined
  #bytes = 0

  /** Restarts the minute: the packet has ended, or the socket is not read. */
  restart(): void {
    this.#since = undefined
  }

  /**
   * Call it at least every second.
   *
   * @param bytes received of the packet; undefined: none has begun
   * @param now milliseconds, of any clock that only goes forward
   */
  isOverdue(bytes: number | undefined, now: number): boolean {
    if (bytes === undefined) this.restart()
    else if (this.#since === undefined) this.#begin(bytes, now)
    else if (now - this.#since >= arrivalPeriod) {
      if (bytes - this.#bytes < leastGrowth) return true
      this.#begin(bytes, now)
    }
    return false
  }

  #begin(bytes: number, now: number): void {
    this.#since = now
    this.#bytes = bytes
  }
}

/**
 * Times PINGRESPs without a PINGREQ. While a limit keeps writes unread, a PINGREQ behind them gets no answer, and the client would
 * take the connection for dead (contract §9).
 */
export class UnaskedPings {
  /** Milliseconds; half of the keep-alive, since some clients wait for an answer only until their next PINGREQ. */
  readonly #interval: number
  #answeredAt = 0
  #isBehind = false

  /** @param keepAlive seconds, as in CONNECT; 0: the client sends no PINGREQ for it */
  constructor(keepAlive: number) {
    this.#interval = keepAlive === 0 ? Number.POSITIVE_INFINITY : keepAlive * 500
  }

  /** @param now when a PINGREQ was read; milliseconds, of any clock that only goes forward */
  answered(now: number): void {
    this.#answeredAt = now
  }

  /**
   * Call it at least every half second.
   *
   * @param isLimited a limit keeps the server from reading the client
   * @param isIdle no packet is pending or unread
   */
  isDue(isLimited: boolean, isIdle: boolean, now: number): boolean {
    if (isLimited && !this.#isBehind) {
      this.#isBehind = true
      this.#answeredAt = now
    }
    if (!isLimited && isIdle) this.#isBehind = false
    if (!this.#isBehind || now - this.#answeredAt < this.#interval) return false
    this.#answeredAt = now
    return true
  }
}
