import { retryUntil } from '../../core/async/retry-until.ts'
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
