import { setTimeout as delay } from 'node:timers/promises'
import type { Nodes } from '../../core/nodes.ts'

/** Milliseconds. */
const lookInterval = 2_500
/** What is revoked meanwhile is to take effect here within 30 s (contract §6). */
const longestSilence = 20_000

/** Notices that this node has not been among those that are there for so long that it may know nothing of what they do. */
export class NodeAbsence {
  readonly #nodes: Pick<Nodes, 'self' | 'alive'>
  readonly #onSilent: () => void
  readonly #onAbsent: () => void
  readonly #timer: NodeJS.Timeout
  #asking: Promise<number | undefined> | undefined
  /** When it was among them, milliseconds of a clock that never goes back. */
  #thereAt = performance.now()
  #isAbsent = false
  /** How many looks in a row have not found it among them. */
  #missed = 0

  /**
   * @param onSilent called when the process stood still for so long: what it knows is old, and it reads now what others have done
   * @param onAbsent called once, and again should it come back and be lost again
   */
  constructor(nodes: Pick<Nodes, 'self' | 'alive'>, onSilent: () => void, onAbsent: () => void) {
    this.#nodes = nodes
    this.#onSilent = onSilent
    this.#onAbsent = onAbsent
    this.#timer = setInterval(() => void this.#look(), lookInterval)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    this.#asking ??= this.#ask()
    const thereAt = await Promise.race([this.#asking, delay(lookInterval, undefined, { ref: false })])
    if (thereAt !== undefined) {
      this.#thereAt = thereAt
      this.#missed = 0
      this.#isAbsent = false
      return
    }
    this.#missed++
    if (this.#isAbsent || performance.now() - this.#thereAt <= longestSilence) return
    // Not by the time alone: a process that stood still says only now that it is there.
    if (this.#missed === 1) return this.#onSilent()
    this.#isAbsent = true
    this.#onAbsent()
  }

  async #ask(): Promise<number | undefined> {
    const asked = performance.now()
    try {
      return (await this.#nodes.alive()).has(this.#nodes.self) ? asked : undefined
    } catch {
      return undefined
    } finally {
      this.#asking = undefined
    }
  }
}
