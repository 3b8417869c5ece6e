import { rest } from '../../../core/async/retry-until.ts'
import type { LogBounds, Nodes } from '../../../core/nodes.ts'
import { believedAfter, believedBehind, released } from '../../../core/time/clock.ts'
import { logBounds } from '../commit-log.ts'
import type { RedisDatabase } from '../connection/database.ts'
import type { Statement } from '../connection/statement.ts'
import type { LogListeners } from '../log/log-listeners.ts'
import { Script } from '../script.ts'
import { LeaderElection, type Work } from './leader-election.ts'
import type { RedisLocks } from './locks.ts'
import type { NodeMessages } from './messages.ts'
import type { RedisReceipts } from './receipt-clock.ts'
import type { RedisClock } from './redis-clock.ts'

const heartbeat = new Script('heartbeat')
const aliveNodes = new Script('alive-nodes')
/** Milliseconds. */
const beatEvery = 5_000
const retryAfter = 1_000
/** Milliseconds from a heartbeat until a node counts as dead: enough for one interval, 10 s without Redis, and reconnecting. */
const heldAliveFor = 25_000

/** The reply of scripts/heartbeat.lua. */
type HeartbeatReply = readonly [
  time: number,
  newest: number,
  from: number,
  to: number,
  wasThere: number,
  ...dead: Buffer[],
]

/** The nodes that use one store in Redis. Times that nodes compare are by Redis' clock. */
export class RedisNodes implements Nodes {
  readonly #database: RedisDatabase
  readonly onDocuments: Nodes['onDocuments']
  readonly onRefused: Nodes['onRefused']
  readonly onGap: Nodes['onGap']
  readonly #clock: RedisClock
  readonly #receipts: RedisReceipts
  readonly #locks: RedisLocks
  readonly #messages: NodeMessages
  readonly #say: (statement: Statement) => void
  /** Elections by task. */
  readonly #elections = new Map<string, LeaderElection>()
  readonly #closed = new AbortController()
  #beating: Promise<void> = Promise.resolve()

  /**
   * @param clock updated with the time of Redis by each heartbeat
   * @param receipts updated with the newest receipt time by each heartbeat
   * @param say called once with the name of this node, then with the name of each dead node that this node is the first to find
   */
  constructor(
    database: RedisDatabase,
    listeners: LogListeners,
    clock: RedisClock,
    receipts: RedisReceipts,
    locks: RedisLocks,
    messages: NodeMessages,
    say: (statement: Statement) => void,
  ) {
    this.#database = database
    this.onDocuments = listeners.onDocuments
    this.onRefused = listeners.onRefused
    this.onGap = listeners.onGap
    this.#clock = clock
    this.#receipts = receipts
    this.#locks = locks
    this.#messages = messages
    this.#say = say
  }

  get self(): string {
    return this.#database.node
  }

  /** Makes this node known to the other nodes. */
  async open(): Promise<void> {
    this.#say({ level: 'info', text: `the other nodes know this node as ${this.self}` })
    await this.#beat()
    this.#beating = this.#beatOn()
  }

  async alive(): Promise<ReadonlySet<string>> {
    const alive = await this.#database.run(aliveNodes, heldAliveFor)
    return new Set((alive as readonly Buffer[]).map(String))
  }

  lead(task: string, work: Work): () => Promise<void> {
    if (this.#closed.signal.aborted) return async () => {}
    const election = new LeaderElection(this.#database, task, work)
    this.#elections.set(task, election)
    return async () => {
      await election.resign()
      if (this.#elections.get(task) === election) this.#elections.delete(task)
    }
  }

  send(message: Uint8Array): void {
    this.#messages.send(message)
  }

  listen(...listening: Parameters<Nodes['listen']>): Promise<() => void> {
    return this.#messages.listen(...listening)
  }

  logBounds(): Promise<LogBounds> {
    return logBounds(this.#database)
  }

  async hasLogged(writeNumber: number): Promise<boolean> {
    const id = `${writeNumber}-0`
    const found = await this.#database.call('XRANGE', this.#database.keys.log, id, id)
    return (found as readonly unknown[]).length > 0
  }

  /** Resigns from all tasks, and removes this node from the list of nodes. */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.all([...this.#elections.values()].map(election => election.resign()))
    await this.#beating
    const { keys } = this.#database
    // If Redis cannot be reached, the entry of this node expires by itself.
    await this.#database.call('ZREM', keys.nodes, this.self).catch(() => {})
  }

  async #beat(): Promise<void> {
    const clock = [released, believedBehind, believedAfter]
    const reply = await this.#database.run(heartbeat, this.self, heldAliveFor, ...clock)
    const [time, newest, from, to, wasThere, ...dead] = reply as HeartbeatReply
    this.#clock.hear(time)
    this.#receipts.hear({ newest, from, to })
    // Other nodes may have taken this node for dead and ended its locks.
    if (wasThere === 0) await this.#locks.check()
    if (dead.length > 0) void this.#locks.dropOf(dead.map(String)).catch(() => {})
    for (const node of dead) {
      this.#say({
        level: 'warn',
        text: `node ${node} was silent for ${heldAliveFor / 1_000} s and counts as dead: the other nodes take over its wills and sessions`,
      })
    }
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#closed
    let wait = beatEvery
    while (!signal.aborted) {
      await rest(wait, signal)
      if (signal.aborted) return
      wait = await this.#beat().then(
        () => beatEvery,
        () => retryAfter,
      )
    }
  }
}
