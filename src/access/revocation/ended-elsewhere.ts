import { setTimeout as delay } from 'node:timers/promises'
import { retryUntil } from '../../core/async/retry-until.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { accessSessionPrefix, thingPrefix, tokenPrefix } from '../documents.ts'
import type { Ended } from './ended.ts'

/** Milliseconds. */
const retryAfter = 500

/** Which documents say that something is there, by what ends with them. */
const kinds = { tokens: tokenPrefix, sessions: accessSessionPrefix, things: thingPrefix } as const satisfies {
  readonly [Kind in keyof Ended]-?: string
}

interface EndedElsewhereParts {
  readonly documents: Pick<DocumentStore, 'get'>
  /** Called at once: none of it may be answered from memory any more. */
  readonly onChange: (changed: Ended) => void
  /** Called when it is certain that these are gone. */
  readonly onEnd: (ended: Ended) => void
}

/** Finds out what has ended without this node having ended it, by the documents that have changed. */
export class EndedElsewhere {
  readonly #parts: EndedElsewhereParts
  readonly #closing = new AbortController()

  constructor(parts: EndedElsewhereParts) {
    this.#parts = parts
  }

  /** @param names of documents that may have been put or removed; those of others are passed over */
  look(names: readonly string[]): void {
    const watched = names.filter(name => Object.values(kinds).some(prefix => name.startsWith(prefix)))
    if (watched.length === 0) return
    this.#parts.onChange(sorted(watched))
    void this.#endMissing(watched)
  }

  /** Ends that are not found yet are not reported any more. */
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

/**
 * The same documents; where a `transact` fails, and it is not known whether it was kept, `onUnknown` is called with the
 * names of what it would have put.
 */
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
