import { setTimeout as delay } from 'node:timers/promises'
import { retryUntil } from '../../core/async/retry-until.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { accessSessionPrefix, thingPrefix, tokenPrefix } from '../documents.ts'
import type { Ended } from './ended.ts'

/** Milliseconds. */
const retryAfter = 500

/** Prefix of the documents whose removal ends each kind. */
const kinds = { tokens: tokenPrefix, sessions: accessSessionPrefix, things: thingPrefix } as const satisfies {
  readonly [Kind in keyof Ended]-?: string
}

interface EndedElsewhereParts {
  readonly documents: Pick<DocumentStore, 'get'>
  /** Called at once: cached answers for these are outdated. */
  readonly onChange: (changed: Ended) => void
  /** Called when these documents are known to be removed. */
  readonly onEnd: (ended: Ended) => void
}

/** Finds tokens, sessions and things that another node has ended, by the documents that have changed. */
export class EndedElsewhere {
  readonly #parts: EndedElsewhereParts
  readonly #closing = new AbortController()

  constructor(parts: EndedElsewhereParts) {
    this.#parts = parts
  }

  /** @param names of documents that may have been put or removed; unrelated ones are ignored */
  look(names: readonly string[]): void {
    const watched = names.filter(name => Object.values(kinds).some(prefix => name.startsWith(prefix)))
    if (watched.length === 0) return
    this.#parts.onChange(sorted(watched))
    void this.#endMissing(watched)
  }

  close(): void {
    this.#closing.abort()
  }

  async #endMissing(names: readonly string[]): Promise<void> {
    const { signal: stop } = this.#closing
    const read = () => Promise.all(names.map(name => this.#parts.documents.get(name)))
    const documents = await retryUntil(read, { every: retryAfter, stop })
    if (!documents || stop.aborted) return
    const missing = names.filter((_, index) => documents[index] === undefined)
    if (missing.length > 0) this.#parts.onEnd(sorted(missing))
  }
}

function sorted(names: readonly string[]): Ended {
  const found = Object.entries(kinds).map(([kind, prefix]) => {
    return [
      kind,
      names.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length)),
    ] as const
  })
  return Object.fromEntries(found)
}

/** Wraps a store: `onUnknown` gets the names of documents of a failed `transact`, which may have taken effect. */
export function announcing(
  documents: DocumentStore,
  onUnknown: (names: readonly string[]) => void,
): DocumentStore {
  return {
    ...documents,
    transact: async (names, change) => {
      let put: readonly string[] = []
      try {
        return await documents.transact(names, found => {
          put = []
          const outcome = change(found)
          put = Object.keys(outcome.put)
          return outcome
        })
      } catch (error) {
        onUnknown(put)
        throw error
      }
    },
  }
}

/** Milliseconds. */
const lookInterval = 2_500
/** Milliseconds: a revocation of another node must take effect here within 30 s (contract §6). */
const longestSilence = 20_000

/** Notices that this node was missing from the live nodes for so long that it may have missed revocations. */
export class NodeAbsence {
  readonly #nodes: Pick<Nodes, 'self' | 'alive'>
  readonly #onSilent: () => void
  readonly #onAbsent: () => void
  readonly #timer: NodeJS.Timeout
  #asking: Promise<number | undefined> | undefined
  /** When it was last among the live nodes, milliseconds of a monotonic clock. */
  #thereAt = performance.now()
  #isAbsent = false
  /** Consecutive checks that have not found it among them. */
  #missed = 0

  /**
   * @param onSilent called when the process was paused for that long: its caches are outdated, and it is catching up
   * @param onAbsent called once per absence
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
    // The time alone does not count: a process that was paused renews its presence only now.
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
