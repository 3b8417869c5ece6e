import type { Lock } from '../../../core/locks.ts'
import type { Nodes } from '../../../core/nodes.ts'
import type { Commit } from '../../contract.ts'
import { Listeners } from '../../listeners.ts'
import type { DecodedEntry } from './log-entry.ts'

/** Listeners to entries of the log: to commits and locks of every node, to everything else of other nodes. */
export class LogListeners {
  readonly #node: string
  readonly #commits = new Listeners<(commit: Commit) => void>()
  readonly #documents = new Listeners<Parameters<Nodes['onDocuments']>[0]>()
  readonly #refused = new Listeners<Parameters<Nodes['onRefused']>[0]>()
  readonly #gaps = new Listeners<() => void>()
  readonly #takings = new Listeners<(taken: Lock) => void>()
  readonly onCommit = this.#commits.listen
  readonly onDocuments = this.#documents.listen
  readonly onRefused = this.#refused.listen
  readonly onGap = this.#gaps.listen
  /** Calls the listener with each lock that any node takes. */
  readonly onTaken = this.#takings.listen

  /** @param node this node, whose documents and refused writes are left out */
  constructor(node: string) {
    this.#node = node
  }

  /** Documents first, so that a listener to a commit finds the documents after it. */
  deliver({ node, thingId, commit, documents, refused, taken }: DecodedEntry): void {
    const isElsewhere = node !== this.#node
    if (taken) for (const listener of this.#takings) listener(taken)
    if (isElsewhere && documents.length > 0) for (const listener of this.#documents) listener(documents)
    if (isElsewhere && refused) for (const listener of this.#refused) listener(thingId, refused)
    if (commit) this.deliverCommit(commit)
  }

  /** Delivers an entry that is only a commit. */
  deliverCommit(commit: Commit): void {
    for (const listener of this.#commits) listener(commit)
  }

  reportGap(): void {
    for (const listener of this.#documents) listener(undefined)
    for (const listener of this.#gaps) listener()
  }
}
