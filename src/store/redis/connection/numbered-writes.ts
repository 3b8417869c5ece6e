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
  /** A write that Redis executes later has no effect. */
  readonly at: number
  /** Until then, Redis is asked for a lost reply; not before `at`. */
  readonly lastAt: number
}

/**
 * Runs scripts that write, one after another, and finds out in the end whether each took effect. For that, each write has a
 * number, under which Redis keeps its reply, and a deadline by Redis' clock.
 *
 * When a reply is lost, Redis is asked for it, and cancels the write if it had no effect yet. If Redis does not answer before the
 * deadline, the write took effect before that or never will, however late it arrives.
 */
export class NumberedWrites {
  readonly #database: RedisDatabase
  readonly #clock: RedisClock
  #number = 0

  /** @param database on which the node has no other numbered writes, over a connection that waits for replicas */
  constructor(database: RedisDatabase, clock = new RedisClock()) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * @param script its arguments begin with node, number and deadline (`begin_write` in scripts/lib.lua)
   * @returns the items of the reply, if it was lost only the first; undefined: the write had no effect, and can be tried again
   * @throws ThingwireError store_full: no effect; store_unavailable; store_timeout: it took effect before the deadline or never
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

  /** By a script, which runs on the server with the store: each server of a cluster has its own clock. */
  async #askTime(): Promise<void> {
    this.#heard(await this.#database.run(settle, this.#database.node, 0))
  }
}
