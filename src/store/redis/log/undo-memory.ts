import { writeNumberInState } from '../record-member.ts'
import type { Undo } from './log-entry.ts'

/**
 * What was latest before it was put over or removed, as far as an open snapshot has to show it: of each resource about as
 * much as there are snapshots, however long they are open and however much is written meanwhile.
 */
export class UndoMemory {
  /** An entry each, since several may be of one write. */
  readonly #snapshots = new Set<{ readonly writeNumber: number }>()
  #newestSnapshot = -1
  /** In commit order. */
  #undo: Undo[] = []

  /** From now on, what a snapshot of this write needs is kept. Returns how to stop. */
  open(writeNumber: number): () => void {
    const snapshot = { writeNumber }
    this.#snapshots.add(snapshot)
    this.#newestSnapshot = Math.max(this.#newestSnapshot, writeNumber)
    return () => {
      if (this.#snapshots.delete(snapshot)) this.#forget()
    }
  }

  add(undo: readonly Undo[]): void {
    if (this.#snapshots.size === 0) return
    for (const each of undo) if (isSeen(each, this.#newestSnapshot)) this.#undo.push(each)
  }

  /** In commit order, of the commits behind the write. */
  since(writeNumber: number): readonly Undo[] {
    return this.#undo.filter(undo => undo.writeNumber > writeNumber && isSeen(undo, writeNumber))
  }

  clear(): void {
    this.#undo = []
  }

  #forget(): void {
    const numbers = [...this.#snapshots].map(({ writeNumber }) => writeNumber)
    const oldest = Math.min(...numbers)
    this.#newestSnapshot = Math.max(-1, ...numbers)
    this.#undo = this.#undo.filter(undo => undo.writeNumber > oldest)
  }
}

/** Whether what was there before the commit is as old as the write. */
function isSeen({ before }: Undo, writeNumber: number): boolean {
  return before !== undefined && writeNumberInState(before) <= writeNumber
}
