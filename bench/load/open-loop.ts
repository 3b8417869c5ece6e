import { Random } from '../../test/helpers/random.ts'

/** Milliseconds. A timer is late by up to one, and by another where it rounds. */
const timerError = 2

/**
 * Says when the writes of an open loop are due: at random times that do not depend on what is acked, and are the same in
 * each run. While the next is close it does not sleep, since a timer has whole milliseconds: it takes a whole core, unless it
 * is told to rest.
 */
export class OpenLoop {
  readonly #meanGap: number
  readonly #onDue: (due: number) => void
  readonly #rest: number
  readonly #random = new Random(8)
  #next = 0
  #isStopped = false

  /**
   * @param rate a second
   * @param onDue called at `due` or as soon after that as can be
   * @param rest least milliseconds from one look at what is due to the next
   */
  constructor(rate: number, onDue: (due: number) => void, rest = 0) {
    this.#rest = rest
    this.#meanGap = 1_000 / rate
    this.#onDue = onDue
  }

  start(): void {
    this.#next = performance.now() + this.#gap()
    this.#turn()
  }

  /** What has been due until now is not left out, late as it may be. */
  stop(): void {
    this.#sendDue()
    this.#isStopped = true
  }

  readonly #turn = (): void => {
    if (this.#isStopped) return
    this.#sendDue()
    const sleep = Math.max(this.#rest, Math.floor(this.#next - performance.now() - timerError))
    if (sleep > 0) setTimeout(this.#turn, sleep)
    else setImmediate(this.#turn)
  }

  #sendDue(): void {
    const now = performance.now()
    while (this.#next <= now) {
      this.#onDue(this.#next)
      this.#next += this.#gap()
    }
  }

  /** Milliseconds from one write to the next: many devices that know nothing of one another are a Poisson process. */
  #gap(): number {
    return -Math.log(1 - this.#random.next()) * this.#meanGap
  }
}
