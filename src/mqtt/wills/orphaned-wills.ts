import { setMaxListeners } from 'node:events'
import { rest } from '../../core/async/retry-until.ts'
import { listDocuments } from '../../core/list-documents.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { ThingwireError } from '../../errors.ts'
import { isAbandoned, type Will, willPrefix } from './will-documents.ts'

const willsTask = 'wills'
/** Interval of checks, milliseconds. */
const lookInterval = 1_000
const writtenAtOnce = 50

interface OrphanedWillsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly clock: Pick<ReceiptClock, 'now'>
  /** Called when nodes have died, first for those that died before. @throws ThingwireError if the store fails */
  readonly onDeaths: (alive: ReadonlySet<string>) => Promise<void>
  /** How long a will waits for its client, milliseconds. */
  readonly grace: number
  /** Writes a will unless its client is back. Resolves when that is done, or when `stop` is aborted. Must not reject. */
  readonly write: (name: string, will: Will, stop: AbortSignal) => Promise<void>
  /** Called with errors that do not come from the store. */
  readonly onDefect: (error: unknown) => void
}

interface Left {
  readonly will: Will
  /** When to write the will, on the clock of `performance.now()`, milliseconds. */
  readonly due: number
}

/** Handles the wills of clients whose node is dead or stopped: one node writes them after a grace period. */
export class OrphanedWills {
  readonly #parts: OrphanedWillsParts
  readonly #watch: NodeWatch
  readonly #giveUp: () => Promise<void>
  /** Whether no orphaned wills are left, and none can be added. */
  isDone = false

  constructor(parts: OrphanedWillsParts) {
    this.#parts = parts
    this.#watch = new NodeWatch(parts.nodes)
    this.#giveUp = parts.nodes.lead(willsTask, stop => this.#lead(stop))
  }

  /** Wills that are not written stay in the store, for another node or the next start. */
  async close(): Promise<void> {
    this.#watch.close()
    await this.#giveUp()
  }

  async #lead(stop: AbortSignal): Promise<void> {
    const { nodes, onDefect } = this.#parts
    // Each will that waits for the store adds a listener to the signal, so Node.js must not take many listeners for a leak.
    setMaxListeners(0, stop)
    /** Wills of all dead nodes by name; undefined if they have to be listed again. */
    let left: Map<string, Left> | undefined
    let before: ReadonlySet<string> = new Set()
    while (!stop.aborted && !this.isDone) {
      try {
        const alive = await this.#watch.look()
        if (!left || [...before].some(node => !alive.has(node))) {
          await this.#parts.onDeaths(alive)
          left = await this.#list(alive)
        }
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

  /** A will with a delay waits for the longer of its delay and the grace period. */
  #dueOf({ node, delay = 0, dueAt }: Will, alive: ReadonlySet<string>): number {
    // The will may come from a live node, for example from an earlier call of `attachThings` in this process.
    const missedSince = alive.has(node) ? performance.now() : this.#watch.missedSince(node)
    const whole = delay * 1_000
    // Not more than the whole delay, even if the clock was set back.
    const left = dueAt === undefined ? whole : Math.min(dueAt - this.#parts.clock.now(), whole)
    const begin = dueAt === undefined ? missedSince : performance.now()
    return Math.max(missedSince + this.#parts.grace, begin + left)
  }

  async #writeDue(left: Map<string, Left>, alive: ReadonlySet<string>, stop: AbortSignal): Promise<void> {
    // A node that only seemed to be dead writes its wills itself.
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

/** Records when each missing node was first found missing. */
class NodeWatch {
  readonly #nodes: Nodes
  readonly #timer: NodeJS.Timeout | undefined
  /** The nodes that were alive at the latest call of `look`. */
  #alive: ReadonlySet<string> = new Set()
  readonly #missedSince = new Map<string, number>()

  constructor(nodes: Nodes) {
    this.#nodes = nodes
    if (!nodes.isAlone) this.#timer = setInterval(() => this.look().catch(() => {}), lookInterval).unref()
  }

  /** The live nodes, always including this node. @throws ThingwireError if the store fails */
  async look(): Promise<ReadonlySet<string>> {
    const alive = new Set(await this.#nodes.alive()).add(this.#nodes.self)
    for (const node of this.#alive) if (!alive.has(node)) this.missedSince(node)
    for (const node of alive) this.#missedSince.delete(node)
    this.#alive = alive
    return alive
  }

  /**
   * @param node a node that was missing at the latest call of `look`
   * @returns when the node was first found missing or first passed here; milliseconds on the clock of `performance.now()`
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
