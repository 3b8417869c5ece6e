import type { Lock } from '../../../core/locks.ts'
import type { Nodes } from '../../../core/nodes.ts'
import type { Commit } from '../../contract.ts'
import { Listeners } from '../../listeners.ts'
import type { DecodedEntry } from './log-entry.ts'

/** Listeners for log entries: commits and locks from every node, all other entries only from other nodes. */
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
  /** Calls a listener with each lock that any node takes, including this node. */
  readonly onTaken = this.#takings.listen

  /** @param node name of this node: documents and refused writes in entries of this node are not delivered */
  constructor(node: string) {
    this.#node = node
  }

  /** Delivers documents first, so that a listener for the commit already finds the changed documents. */
  deliver({ node, thingId, commit, documents, refused, taken }: DecodedEntry): void {
    const isElsewhere = node !== this.#node
    if (taken) for (const listener of this.#takings) listener(taken)
    if (isElsewhere && documents.length > 0) for (const listener of this.#documents) listener(documents)
    if (isElsewhere && refused) for (const listener of this.#refused) listener(thingId, refused)
    if (commit) this.deliverCommit(commit)
  }

  deliverCommit(commit: Commit): void {
    for (const listener of this.#commits) listener(commit)
  }

  reportGap(): void {
    for (const listener of this.#documents) listener(undefined)
    for (const listener of this.#gaps) listener()
  }
}
