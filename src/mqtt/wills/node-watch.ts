import type { Nodes } from '../../core/nodes.ts'

/** Milliseconds. */
const lookInterval = 1_000

/** Looks which nodes are there, so that it can be told for how long one has been missed. */
export class NodeWatch {
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
