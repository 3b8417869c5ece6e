/** State of a connection at a tick. */
export interface Tick {
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

/** The client is silent, a packet of it does not end, or the client waits for a sign that it was heard. */
export type Verdict = 'silent' | 'unfinished' | 'ping' | undefined

/**
 * The keep-alive of one client (MQTT-3.1.2-24). A client is neither silent nor slow while the server does not read it, or while
 * its packet still arrives. A client whose packet does not end is closed.
 */
export class KeepAlive {
  readonly #arrival = new SlowArrival()
  #pings = new UnaskedPings(0)
  /** One and a half keep-alives, milliseconds. */
  #patience = Number.POSITIVE_INFINITY
  #heardAt = 0
  /** At the tick before. */
  #unfinishedBytes: number | undefined

  /** A CONNECT has arrived. @param keepAlive seconds; 0: none */
  connected(keepAlive: number, now: number): void {
    this.#pings = new UnaskedPings(keepAlive)
    if (keepAlive > 0) this.#patience = keepAlive * 1_500
    this.#heardAt = now
  }

  /** A packet has arrived. */
  heard(now: number): void {
    this.#heardAt = now
    this.#arrival.restart()
  }

  /** A PINGREQ was answered. */
  answered(now: number): void {
    this.#pings.answered(now)
  }

  /** Longest time without a packet towards a broker that does not see all packets, milliseconds. */
  get interval(): number {
    return this.#patience / 3
  }

  /** To be called every half second. */
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
 * Notices a packet or message that stops arriving: within each minute it must end or grow by 60 KiB, since an unfinished one stays
 * in memory for as long as the peer likes. A modem with 1 KiB/s delivers the largest packet; a slower one delivers packets as
 * large as its minute.
 */
export class SlowArrival {
  #since: number | undefined
  #bytes = 0

  /** Restarts the minute: the packet has ended, or the socket is not read. */
  restart(): void {
    this.#since = undefined
  }

  /**
   * To be called every second or more often.
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
 * Times PINGRESPs without a PINGREQ: a client whose PINGREQ waits behind writes that a limit keeps unread would take the
 * connection for dead (contract §9).
 */
export class UnaskedPings {
  /** Milliseconds; half of the keep-alive, since some clients wait no longer for an answer than from one PINGREQ to the next. */
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
   * To be called every half second or more often.
   *
   * @param isLimited the client is not read at the moment
   * @param isIdle nothing of it waits, read or unread
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
