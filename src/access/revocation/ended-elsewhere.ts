import { setTimeout as delay } from 'node:timers/promises'
import { retryUntil } from '../../core/async/retry-until.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentStore } from '../../core/ports.ts'
import {
  accessSessionPrefix,
  sourceDevicePrefix,
  sourcePrefix,
  thingPrefix,
  tokenPrefix,
} from '../documents.ts'
import type { Ended } from './ended.ts'

/** How long to wait before a failed read is tried again, milliseconds. */
const retryAfter = 500

/** Prefixes of the names of documents by kind. If one is removed, its token, session, thing, source or device has ended. */
const kinds = {
  tokens: tokenPrefix,
  sessions: accessSessionPrefix,
  things: thingPrefix,
  sources: sourcePrefix,
  devices: sourceDevicePrefix,
} as const satisfies {
  readonly [Kind in keyof Ended]-?: string
}

interface EndedElsewhereParts {
  readonly documents: Pick<DocumentStore, 'get'>
  /** Called immediately with the tokens, sessions and things whose cached data may be outdated. */
  readonly onChange: (changed: Ended) => void
  /** Called with the tokens, sessions and things that have ended, once their documents are known to be removed. */
  readonly onEnd: (ended: Ended) => void
}

/** Finds out which tokens, sessions and things another node has ended, from the names of the documents that have changed. */
export class EndedElsewhere {
  readonly #parts: EndedElsewhereParts
  readonly #closing = new AbortController()

  constructor(parts: EndedElsewhereParts) {
    this.#parts = parts
  }

  /** @param names names of documents that may have been put or removed; names of other kinds of documents are ignored */
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

/** Wraps a store so that `onUnknown` is called with the names of documents that a failed `transact` may nevertheless have put. */
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

/** Interval of the checks, milliseconds. */
const lookInterval = 2_500
/** Longest absence that is tolerated, milliseconds: another node's revocation must take effect here within 30 s (contract §6). */
const longestSilence = 20_000

/** Notices when this node has been missing from the live nodes for so long that it may have missed revocations. */
export class NodeAbsence {
  readonly #nodes: Pick<Nodes, 'self' | 'alive'>
  readonly #onSilent: () => void
  readonly #onAbsent: () => void
  readonly #timer: NodeJS.Timeout
  #asking: Promise<number | undefined> | undefined
  /** When this node was last among the live nodes, milliseconds of a monotonic clock. */
  #thereAt = performance.now()
  #isAbsent = false
  /** Number of consecutive checks that have not found this node among the live nodes. */
  #missed = 0

  /**
   * @param onSilent called after a pause of the process longer than `longestSilence`: its caches may be outdated
   * @param onAbsent called once for each absence
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
    // If this is the first missed check, maybe the process was only paused, and will be among the live nodes again shortly.
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
