import { rest } from '../../../core/async/retry-until.ts'
import type { Lock } from '../../../core/locks.ts'
import type { RedisDatabase } from '../connection/database.ts'
import { Script } from '../script.ts'

export type Work = (stop: AbortSignal, lock: Lock) => Promise<void>

const takeLead = new Script('take-lead')
const giveUpLead = new Script('give-up-lead')
/** Milliseconds from the start or renewal of a term to its end, and between two renewals. */
const lifetime = 10_000
const renewEvery = 2_500
/** Milliseconds by which the node ends a term before Redis does, since the node's clock may run slower than Redis' clock. */
const margin = 1_000

/** Asks Redis repeatedly to let this node lead a task, and runs the work while this node is the leader. */
export class LeaderElection {
  readonly #database: RedisDatabase
  readonly #task: string
  readonly #work: Work
  readonly #resigned = new AbortController()
  readonly #running: Promise<void>
  #term: Term | undefined

  /** @param work must not reject; is called again only after the previous call has ended */
  constructor(database: RedisDatabase, task: string, work: Work) {
    this.#database = database
    this.#task = task
    this.#work = work
    this.#running = this.#run()
  }

  /** Resolves when the work has ended and another node may lead. Idempotent. */
  async resign(): Promise<void> {
    this.#resigned.abort()
    this.#term?.stop()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#resigned
    while (!signal.aborted) {
      await this.#ask()
      // The node asks again only after its work has ended. Until then, only another node may lead.
      if (this.#term?.isStopped) await this.#endTerm()
      else await rest(renewEvery, signal)
    }
    await this.#endTerm()
    // If Redis cannot be reached, the term expires by itself.
    await this.#database.run(giveUpLead, this.#database.node, this.#task).catch(() => {})
  }

  async #ask(): Promise<void> {
    const { node } = this.#database
    // The term begins in Redis at this time or later.
    const askedAt = performance.now()
    const term = await this.#database
      .run(takeLead, node, this.#task, this.#term?.number ?? 0, lifetime)
      .then(Number, () => undefined)
    if (term === undefined || this.#resigned.signal.aborted) return
    if (this.#term && term !== this.#term.number) this.#term.stop()
    else if (term > 0) {
      const lock = { name: `task/${this.#task}`, owner: `${node}:${term}` }
      this.#term ??= new Term(term, stop => this.#work(stop, lock))
      this.#term.holdUntil(askedAt + lifetime - margin)
    }
  }

  async #endTerm(): Promise<void> {
    this.#term?.stop()
    await this.#term?.ended
    this.#term = undefined
  }
}

/** A period in which a node leads a task without interruption. */
class Term {
  readonly number: number
  readonly ended: Promise<void>
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(number: number, work: (stop: AbortSignal) => Promise<void>) {
    this.number = number
    this.ended = work(this.#stopping.signal)
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Extends the term. @param time end of the term by the monotonic clock (`performance.now()`) */
  holdUntil(time: number): void {
    clearTimeout(this.#timer)
    if (!this.isStopped) this.#timer = setTimeout(() => this.stop(), time - performance.now())
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#stopping.abort()
  }
}
