import { setTimeout as delay } from 'node:timers/promises'
import type { LogBounds, Nodes } from '../../core/nodes.ts'
import { Candidacy, type Work } from './candidacy.ts'
import { logBounds } from './commit-log.ts'
import type { LogListeners } from './log-listeners.ts'
import type { Partition } from './partition.ts'
import { Script } from './script.ts'

const heartbeat = new Script('heartbeat')
const aliveNodes = new Script('alive-nodes')
/** Milliseconds. */
const beatEvery = 5_000
const retryAfter = 1_000
const heldAliveFor = 15_000

/** This node among those that use one Redis. All times between them are by Redis' clock. */
export class RedisNodes implements Nodes {
  readonly #partition: Partition
  readonly #listeners: LogListeners
  /** By task. */
  readonly #candidacies = new Map<string, Candidacy>()
  readonly #closed = new AbortController()
  #beating: Promise<void> = Promise.resolve()

  constructor(partition: Partition, listeners: LogListeners) {
    this.#partition = partition
    this.#listeners = listeners
  }

  get self(): string {
    return this.#partition.node
  }

  /** From now on the others see it. */
  async open(): Promise<void> {
    await this.#beat()
    this.#beating = this.#beatOn()
  }

  async alive(): Promise<ReadonlySet<string>> {
    return new Set(((await this.#partition.run(aliveNodes)) as readonly Buffer[]).map(String))
  }

  lead(task: string, work: Work): () => Promise<void> {
    if (this.#closed.signal.aborted) return async () => {}
    const candidacy = new Candidacy(this.#partition, task, work)
    this.#candidacies.set(task, candidacy)
    return async () => {
      await candidacy.giveUp()
      if (this.#candidacies.get(task) === candidacy) this.#candidacies.delete(task)
    }
  }

  /** In which this node leads the task; undefined: it does not. */
  termOf(task: string): number | undefined {
    return this.#candidacies.get(task)?.term
  }

  onDocuments(listener: Parameters<Nodes['onDocuments']>[0]): () => void {
    return this.#listeners.onDocuments(listener)
  }

  onRefused(listener: Parameters<Nodes['onRefused']>[0]): () => void {
    return this.#listeners.onRefused(listener)
  }

  onGap(listener: () => void): () => void {
    return this.#listeners.onGap(listener)
  }

  logBounds(): Promise<LogBounds> {
    return logBounds(this.#partition)
  }

  /** Leaves at once what it leads, and the others. */
  async close(): Promise<void> {
    this.#closed.abort()
    await Promise.all([...this.#candidacies.values()].map(candidacy => candidacy.giveUp()))
    await this.#beating
    const { keys } = this.#partition
    // Where Redis is away, it expires there.
    await this.#partition.call('ZREM', keys.nodes, this.self).catch(() => {})
  }

  async #beat(): Promise<void> {
    await this.#partition.run(heartbeat, this.self, heldAliveFor)
  }

  async #beatOn(): Promise<void> {
    const { signal } = this.#closed
    let wait = beatEvery
    while (!signal.aborted) {
      await delay(wait, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      wait = await this.#beat().then(
        () => beatEvery,
        () => retryAfter,
      )
    }
  }
}
