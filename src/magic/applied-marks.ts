import { listDocuments } from '../core/list-documents.ts'
import type { Commit, DocumentPut, DocumentStore } from '../core/ports.ts'

/** How far the magic records of a thing are applied. */
export type AppliedMark = {
  /** Number of the newest applied write. */
  readonly writeNumber: number
  /** Number of applied records, if the write is too large for one commit and only partly applied; otherwise absent. */
  readonly records?: number
}

export interface LoadedMarks {
  /** Number of the write up to which (inclusive) the records of all things are applied. */
  readonly through: number
  /** Marks by thing id. */
  readonly ofThings: ReadonlyMap<string, AppliedMark>
}

type ThroughDocument = { readonly writeNumber: number }

const throughName = 'magic/applied'
const markPrefix = `${throughName}/`
const removalsPerPut = 2

export function isAppliedMark(name: string): boolean {
  return name === throughName || name.startsWith(markPrefix)
}

/** The same mark for another store. @param numberOf maps a write number to the number of the same write in the other store */
export function movedMark(mark: AppliedMark, numberOf: (writeNumber: number) => number): AppliedMark {
  return { ...mark, writeNumber: numberOf(mark.writeNumber) }
}

/**
 * Stores which writes are applied, in documents that are committed together with the states. Therefore no record is applied twice,
 * no matter when the process dies or which of its pending commits the store has kept.
 *
 * The document `magic/applied` contains the number of the write up to which all records are applied. `magic/applied/<thing id>`
 * contains the mark of one thing, until `magic/applied` has passed that mark.
 */
export class AppliedMarks {
  readonly #documents: Pick<DocumentStore, 'get' | 'list' | 'transact'>
  /** Write numbers of stored marks, by thing. */
  readonly #kept = new Map<string, number>()

  constructor(documents: Pick<DocumentStore, 'get' | 'list' | 'transact'>) {
    this.#documents = documents
  }

  async load(): Promise<LoadedMarks> {
    const ofThings = new Map<string, AppliedMark>()
    for await (const [thingId, document] of listDocuments(this.#documents, markPrefix)) {
      const mark = document as AppliedMark
      ofThings.set(thingId, mark)
      this.#kept.set(thingId, mark.writeNumber)
    }
    // This document is read last: once it has passed a thing's mark, that mark may be removed at any time.
    const through = (await this.#documents.get(throughName)) as ThroughDocument | undefined
    return { through: through?.writeNumber ?? 0, ofThings }
  }

  /** Raises the stored write number up to which all records are applied. The next applier reads the log from that number on. */
  async keepThrough(through: number): Promise<void> {
    await this.#documents.transact([throughName], ([kept]) => {
      const isOlder = ((kept as ThroughDocument | undefined)?.writeNumber ?? 0) < through
      const put = isOlder ? { [throughName]: { writeNumber: through } } : {}
      return { put, result: undefined, purpose: 'keep' }
    })
  }

  /**
   * The documents to put with states of the thing. Put results in call order: one may remove a mark that a later one puts again.
   *
   * @param through number of the write up to which all records are applied
   */
  documents(thingId: string, mark: AppliedMark, through: number): DocumentPut {
    this.#kept.delete(thingId)
    return {
      [throughName]: { writeNumber: through },
      ...Object.fromEntries(this.#passed(through).map(passed => [markPrefix + passed, null])),
      [markPrefix + thingId]: { ...mark },
    }
  }

  /** Call this when the documents with this mark are stored. */
  keep(thingId: string, { writeNumber }: AppliedMark): void {
    this.#kept.set(thingId, writeNumber)
  }

  /** Things with marks that `through` has passed, at most `removalsPerPut`. If a removal fails, the next start finds the mark. */
  #passed(through: number): string[] {
    const passed: string[] = []
    for (const [thingId, writeNumber] of this.#kept) {
      if (writeNumber > through || passed.length === removalsPerPut) break
      passed.push(thingId)
    }
    for (const thingId of passed) this.#kept.delete(thingId)
    return passed
  }
}

/** Whether all records of the write are applied. */
export function isApplied({ through, ofThings }: LoadedMarks, { thingId, writeNumber }: Commit): boolean {
  if (writeNumber <= through) return true
  return appliedRecords(ofThings.get(thingId), writeNumber) === Number.POSITIVE_INFINITY
}

/** Number of applied records of a write, according to the mark of its thing; Infinity if all its records are applied. */
export function appliedRecords(mark: AppliedMark | undefined, writeNumber: number): number {
  if (!mark || mark.writeNumber < writeNumber) return 0
  return mark.writeNumber > writeNumber
    ? Number.POSITIVE_INFINITY
    : (mark.records ?? Number.POSITIVE_INFINITY)
}
