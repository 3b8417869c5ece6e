import { rest, retryUntil } from '../../../core/async/retry-until.ts'
import { ThingwireError } from '../../../errors.ts'
import { RedisClock } from '../nodes/redis-clock.ts'
import { type Argument, type Reply, Script } from '../script.ts'
import { isPassing, type RedisDatabase } from './database.ts'

const settle = new Script('settle')
/** Milliseconds. */
const retryAfter = 50

/** Until when a write counts, by the monotonic clock (`performance.now()`). */
export interface Deadline {
  /** What Redis executes after it has no effect. */
  readonly at: number
  /** So long Redis is asked what came of a write whose reply was lost; not before `at`. */
  readonly lastAt: number
}

/**
 * Runs scripts that write, one after another, of which it is always known in the end whether they took effect: each has a
 * number, by which Redis knows its reply again, and says until when it counts, by Redis' clock.
 *
 * When a reply is lost, Redis is asked as soon as it answers, and lets the write not take effect any more if it had not. Where
 * it does not answer before the deadline, the write took effect before that or never will, however late it arrives.
 */
export class NumberedWrites {
  readonly #database: RedisDatabase
  readonly #clock: RedisClock
  #number = 0

  /**
   * @param database of which the node has no other such writes, over the connection for what has to be durable
   * @param clock of the same place
   */
  constructor(database: RedisDatabase, clock = new RedisClock()) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * @param script whose arguments begin with node, number and deadline (`begin_write` in scripts/lib.lua)
   * @returns what it returned, or, of a reply that was lost, the first item of that; undefined: it took no effect, and may be
   * tried again
   * @throws ThingwireError store_full: it took no effect; store_unavailable; store_timeout: it took effect before the deadline,
   * or never
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

  /** By a script, since the store is in one place only, and a cluster has many clocks. */
  async #askTime(): Promise<void> {
    this.#heard(await this.#database.run(settle, this.#database.node, 0))
  }
}
