import { setMaxListeners } from 'node:events'
import { rest } from '../../core/async/retry-until.ts'
import { listDocuments } from '../../core/list-documents.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import { isAbandoned, type Will, willPrefix } from './will-documents.ts'

/** The task of the node that writes them. */
const willsTask = 'wills'
/** Milliseconds. */
const lookInterval = 1_000
const writtenAtOnce = 50

interface OrphanedWillsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  /** How long they wait for their clients, milliseconds. */
  readonly grace: number
  /** Writes a will unless its client is back; resolves when it is dealt with, or when `stop` is aborted. Must not reject. */
  readonly write: (name: string, will: Will, stop: AbortSignal) => Promise<void>
  /** Called with what is no error of the store. */
  readonly onDefect: (error: unknown) => void
}

interface Left {
  readonly will: Will
  /** On the clock of `performance.now()`, milliseconds. */
  readonly due: number
}

/** The wills of clients whose node is gone: one node writes them, when they have waited for their clients. */
export class OrphanedWills {
  readonly #parts: OrphanedWillsParts
  readonly #watch: NodeWatch
  readonly #giveUp: () => Promise<void>
  /** Whether there are none, nor will be. */
  isDone = false

  constructor(parts: OrphanedWillsParts) {
    this.#parts = parts
    this.#watch = new NodeWatch(parts.nodes)
    this.#giveUp = parts.nodes.lead(willsTask, stop => this.#lead(stop))
  }

  /** What is not written stays in the store, for another node or the next start. */
  async close(): Promise<void> {
    this.#watch.close()
    await this.#giveUp()
  }

  async #lead(stop: AbortSignal): Promise<void> {
    const { nodes, onDefect } = this.#parts
    // Each will that waits for the store listens.
    setMaxListeners(0, stop)
    /** By name, of all nodes that are gone; undefined if that is to be found out. */
    let left: Map<string, Left> | undefined
    let before: ReadonlySet<string> = new Set()
    while (!stop.aborted && !this.isDone) {
      try {
        const alive = await this.#watch.look()
        if (!left || [...before].some(node => !alive.has(node))) left = await this.#list(alive)
        before = alive
        await this.#writeDue(left, alive, stop)
        this.isDone = nodes.isAlone === true && left.size === 0
      } catch (error) {
        if (!(error instanceof ThingwireError)) onDefect(error)
        left = undefined
      }
      if (!this.isDone) await untilDue(left, stop)
    }
  }

  async #list(alive: ReadonlySet<string>): Promise<Map<string, Left>> {
    const { documents } = this.#parts
    const left = new Map<string, Left>()
    for await (const [rest, will] of listDocuments<Will>(documents, willPrefix)) {
      if (isAbandoned(will, alive)) left.set(`${willPrefix}${rest}`, { will, due: this.#dueOf(will, alive) })
    }
    return left
  }

  #dueOf({ node }: Will, alive: ReadonlySet<string>): number {
    // Of this process itself, perhaps, which was attached to a broker before.
    const missedSince = alive.has(node) ? performance.now() : this.#watch.missedSince(node)
    return missedSince + this.#parts.grace
  }

  async #writeDue(left: Map<string, Left>, alive: ReadonlySet<string>, stop: AbortSignal): Promise<void> {
    // A node that was held for dead looks after them itself.
    for (const [name, { will }] of left) if (!isAbandoned(will, alive)) left.delete(name)
    const due = [...left].filter(([, { due }]) => due <= performance.now())
    while (due.length > 0 && !stop.aborted) {
      await Promise.all(
        due.splice(0, writtenAtOnce).map(async ([name, { will }]) => {
          await this.#parts.write(name, will, stop)
          left.delete(name)
        }),
      )
    }
  }
}

async function untilDue(left: ReadonlyMap<string, Left> | undefined, stop: AbortSignal): Promise<void> {
  const now = performance.now()
  const waits = [...(left?.values() ?? [])].map(({ due }) => due - now)
  const wait = Math.max(
    0,
    waits.reduce((least, wait) => Math.min(least, wait), lookInterval),
  )
  await rest(wait, stop)
}

/** Looks which nodes are there, so that it is known for how long one has been missed. */
class NodeWatch {
  readonly #nodes: Nodes
  readonly #timer: NodeJS.Timeout | undefined
  /** As of the newest look. */
  #alive: ReadonlySet<string> = new Set()
  readonly #missedSince = new Map<string, number>()

  constructor(nodes: Nodes) {
    this.#nodes = nodes
    if (!nodes.isAlone) this.#timer = setInterval(() => this.look().catch(() => {}), lookInterval).unref()
  }

  /** The nodes that are there, this one in any case. @throws ThingwireError of the store */
  async look(): Promise<ReadonlySet<string>> {
    const alive = new Set(await this.#nodes.alive()).add(this.#nodes.self)
    for (const node of this.#alive) if (!alive.has(node)) this.missedSince(node)
    for (const node of alive) this.#missedSince.delete(node)
    this.#alive = alive
    return alive
  }

  /**
   * @param node not there at the newest look
   * @returns when it was missed, or first asked for; milliseconds on the clock of `performance.now()`
   */
  missedSince(node: string): number {
    const since = this.#missedSince.get(node) ?? performance.now()
    this.#missedSince.set(node, since)
    return since
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
