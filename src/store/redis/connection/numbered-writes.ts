import { rest, retryUntil } from '../../../core/async/retry-until.ts'
import { ThingwireError } from '../../../errors.ts'
import { RedisClock } from '../nodes/redis-clock.ts'
import { type Argument, type Reply, Script } from '../script.ts'
import { isPassing, type RedisDatabase } from './database.ts'

const settle = new Script('settle')
/** Milliseconds. */
const retryAfter = 50

/** Deadlines of a write, by the monotonic clock (`performance.now()`). */
export interface Deadline {
  /** If Redis executes a write later than this, the write has no effect. */
  readonly at: number
  /** Time until which Redis is asked for a lost reply; not earlier than `at`. */
  readonly lastAt: number
}

/**
 * Runs scripts that write, one after another, and finds out whether each took effect. For this, each write has a number and a
 * deadline by Redis' clock. Redis stores the reply under the number.
 *
 * If a reply is lost, this node asks Redis for the reply. Redis then cancels the write unless it has taken effect. If Redis does
 * not answer before the deadline, the write either took effect before the deadline or never will, however late it reaches Redis.
 */
export class NumberedWrites {
  readonly #database: RedisDatabase
  readonly #clock: RedisClock
  #number = 0

  /** @param database a connection that waits for replicas; no other instance may make numbered writes for the same node */
  constructor(database: RedisDatabase, clock = new RedisClock()) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * @param script a script with node, number and deadline as its first arguments (`begin_write` in scripts/lib.lua)
   * @returns the items of the reply, or only the first item if the reply was lost; undefined if the write had no effect: retry it
   * @throws ThingwireError store_full: the write had no effect; store_unavailable: Redis refused a command; store_timeout: the
   * write took effect before the deadline or never will
   */
  async run(
    script: Script,
    deadline: Deadline,
    args: readonly Argument[],
  ): Promise<readonly Reply[] | undefined> {
    const { node } = this.#database
    const number = ++this.#number
    try {
      if (!this.#clock.isKnown) await this.#askTime()
      return this.#heard(
        await this.#database.run(script, node, number, this.#clock.earliestAt(deadline.at), ...args),
      )
    } catch (error) {
      if (!isPassing(error)) throw error
      this.#clock.forget()
      return await this.#settle(number, deadline)
    }
  }

  async #settle(number: number, { lastAt }: Deadline): Promise<readonly Reply[] | undefined> {
    await rest(retryAfter)
    const ask = async () => ({ reply: await this.#database.run(settle, this.#database.node, number) })
    const answer = await retryUntil(ask, { every: retryAfter, until: lastAt, isPassing })
    if (!answer) throw new ThingwireError('store_timeout')
    return this.#heard(answer.reply)
  }

  #heard(reply: Reply): readonly Reply[] | undefined {
    const [time, ...rest] = reply as readonly [number, ...Reply[]]
    this.#clock.hear(time)
    return rest.length > 0 ? rest : undefined
  }

  /** Uses a script so that the server with the store answers: the clocks of the servers of a cluster differ. */
  async #askTime(): Promise<void> {
    this.#heard(await this.#database.run(settle, this.#database.node, 0))
  }
}
