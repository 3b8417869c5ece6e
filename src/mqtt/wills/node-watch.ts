import type { Nodes } from '../../core/nodes.ts'

/** Milliseconds. */
const lookInterval = 1_000

/** Since when a node is not there any more. */
export interface Absence {
  /** When it was missed, or first asked for; milliseconds on the clock of `performance.now()`. */
  readonly noticed: number
  /** Whether it was there at a look before. */
  readonly wasSeen: boolean
}

/** Looks which nodes are there, so that it can be told for how long one has been gone. */
export class NodeWatch {
  readonly #nodes: Nodes
  readonly #timer: NodeJS.Timeout | undefined
  /** As of the newest look. */
  #alive: ReadonlySet<string> = new Set()
  readonly #absences = new Map<string, Absence>()

  constructor(nodes: Nodes) {
    this.#nodes = nodes
    if (!nodes.isAlone) this.#timer = setInterval(() => this.look().catch(() => {}), lookInterval).unref()
  }

  /** The nodes that are there, this one in any case. @throws ThingwireError of the store */
  async look(): Promise<ReadonlySet<string>> {
    const alive = new Set(await this.#nodes.alive()).add(this.#nodes.self)
    const noticed = performance.now()
    for (const node of this.#alive) {
      if (!alive.has(node)) this.#absences.set(node, { noticed, wasSeen: true })
    }
    for (const node of alive) this.#absences.delete(node)
    this.#alive = alive
    return alive
  }

  /** @param node not there at the newest look */
  absenceOf(node: string): Absence {
    const absence = this.#absences.get(node) ?? { noticed: performance.now(), wasSeen: false }
    this.#absences.set(node, absence)
    return absence
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
