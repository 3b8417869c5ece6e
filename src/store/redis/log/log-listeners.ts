import type { Hold } from '../../../core/holds.ts'
import type { Nodes } from '../../../core/nodes.ts'
import type { Commit } from '../../contract.ts'
import type { DecodedEntry } from './log-entry.ts'

type DocumentsListener = Parameters<Nodes['onDocuments']>[0]
type RefusedListener = Parameters<Nodes['onRefused']>[0]

/** Whom a node tells of the log: of commits and holds whoever made them, of all else what other nodes did. */
export class LogListeners {
  readonly #node: string
  readonly #commits = new Set<(commit: Commit) => void>()
  readonly #documents = new Set<DocumentsListener>()
  readonly #refused = new Set<RefusedListener>()
  readonly #gaps = new Set<() => void>()
  readonly #takings = new Set<(taken: Hold) => void>()

  /** @param node that does not need to be told what it did itself */
  constructor(node: string) {
    this.#node = node
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    return adding(this.#commits, listener)
  }

  onDocuments(listener: DocumentsListener): () => void {
    return adding(this.#documents, listener)
  }

  onRefused(listener: RefusedListener): () => void {
    return adding(this.#refused, listener)
  }

  /** Of each hold that is taken, by whichever node. */
  onTaken(listener: (taken: Hold) => void): () => void {
    return adding(this.#takings, listener)
  }

  onGap(listener: () => void): () => void {
    return adding(this.#gaps, listener)
  }

  /** Documents first: who is told of a commit finds them as they are behind it. */
  tell({ node, thingId, commit, documents, refused, taken }: DecodedEntry): void {
    const isElsewhere = node !== this.#node
    if (taken) for (const listener of this.#takings) listener(taken)
    if (isElsewhere && documents.length > 0) for (const listener of this.#documents) listener(documents)
    if (isElsewhere && refused) for (const listener of this.#refused) listener(thingId, refused)
    if (commit) this.tellCommit(commit)
  }

  /** An entry that is this and nothing else. */
  tellCommit(commit: Commit): void {
    for (const listener of this.#commits) listener(commit)
  }

  tellGap(): void {
    for (const listener of this.#documents) listener(undefined)
    for (const listener of this.#gaps) listener()
  }
}

function adding<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
