export interface Tick {
  /** Time on a monotonic clock, milliseconds. */
  readonly now: number
  /** Whether the process was paused since the previous tick. Packets that arrived during the pause are still unread. */
  readonly wasPaused: boolean
  /** Whether a limit keeps the server from reading from the client. */
  readonly isLimited: boolean
  /** Whether no packet is pending or unread. */
  readonly isIdle: boolean
  /** Number of received bytes of an incomplete packet; undefined if no packet is incomplete. */
  readonly unfinishedBytes: number | undefined
}

/** `silent`: no packet came for 1.5 times the keep-alive. `unfinished`: a packet stopped arriving. `ping`: send a PINGRESP. */
export type Verdict = 'silent' | 'unfinished' | 'ping' | undefined

/**
 * Watches one client's keep-alive (MQTT-3.1.2-24). A client does not count as silent while a packet is arriving. While a limit
 * keeps the server from reading from the client, the client does not count as silent or slow.
 */
export class KeepAlive {
  readonly #arrival = new SlowArrival()
  #pings = new UnaskedPings(0)
  /** 1.5 times the keep-alive, milliseconds. */
  #patience = Number.POSITIVE_INFINITY
  #heardAt = 0
  /** `unfinishedBytes` of the previous tick. */
  #unfinishedBytes: number | undefined

  /** @param keepAlive keep-alive of CONNECT, seconds; 0 for none */
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

  /** Interval of PINGREQs to Aedes, milliseconds. Aedes sees few packets of the client, and without PINGREQs would time it out. */
  get interval(): number {
    return this.#patience / 3
  }

  /** Call this every half second. */
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

/** Period within which an arriving packet must end or grow, milliseconds. */
const arrivalPeriod = 60_000
/** Minimum growth in that period, bytes: 1 KiB a second. */
const leastGrowth = 60 * 1024

/**
 * Notices a packet or message that stops arriving. An incomplete packet occupies memory, so within each minute it must end or grow
 * by 60 KiB. A modem with 1 KiB/s can send packets of any size; a slower modem can send packets that take less than a minute.
 */
export class SlowArrival {
  #since: number | undefined
  #bytes = 0

  /** Restarts the minute. Call this when the packet has ended or the socket is not read. */
  restart(): void {
    this.#since = undefined
  }

  /**
   * Call this at least every second.
   *
   * @param bytes number of received bytes of the packet; undefined if no packet has begun
   * @param now time on any monotonic clock, milliseconds
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
 * Decides when to send a PINGRESP that was not requested. While a limit keeps the server from reading, PINGREQs stay unread too,
 * and without an answer the client would consider the connection dead (contract §9).
 */
export class UnaskedPings {
  /** Half of the keep-alive, milliseconds: some clients wait for an answer only until their next PINGREQ. */
  readonly #interval: number
  #answeredAt = 0
  #isBehind = false

  /** @param keepAlive keep-alive of CONNECT, seconds; 0 for none */
  constructor(keepAlive: number) {
    this.#interval = keepAlive === 0 ? Number.POSITIVE_INFINITY : keepAlive * 500
  }

  /** @param now when a PINGREQ was read, on any monotonic clock, milliseconds */
  answered(now: number): void {
    this.#answeredAt = now
  }

  /**
   * Call this at least every half second.
   *
   * @param isLimited whether a limit keeps the server from reading from the client
   * @param isIdle whether no packet is pending or unread
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
