import { listDocuments } from '../core/list-documents.ts'
import type { Commit, DocumentPut, DocumentStore } from '../core/ports.ts'

/** How far the magic records of a thing are applied. */
export type AppliedMark = {
  /** The newest applied write. */
  readonly writeNumber: number
  /** Number of applied records of this write, if it is too large for one commit; absent: all. */
  readonly records?: number
}

export interface LoadedMarks {
  /** The write up to which all things are applied. */
  readonly through: number
  /** By thing id. */
  readonly ofThings: ReadonlyMap<string, AppliedMark>
}

type ThroughDocument = { readonly writeNumber: number }

const throughName = 'magic/applied'
const markPrefix = `${throughName}/`
const removalsPerPut = 2

export function isAppliedMark(name: string): boolean {
  return name === throughName || name.startsWith(markPrefix)
}

/** The same mark in another store. @param numberOf maps a write number to that of the other store */
export function movedMark(mark: AppliedMark, numberOf: (writeNumber: number) => number): AppliedMark {
  return { ...mark, writeNumber: numberOf(mark.writeNumber) }
}

/**
 * The applied writes, as documents in the commit of the states. So nothing is applied twice, whenever the process dies and
 * whichever of its pending commits the store has kept.
 *
 * `magic/applied` is the write up to which all things are applied; `magic/applied/<thing id>` is that of one thing, until the first
 * has passed it.
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
    // Read last: a mark may be removed meanwhile, once this one has passed it.
    const through = (await this.#documents.get(throughName)) as ThroughDocument | undefined
    return { through: through?.writeNumber ?? 0, ofThings }
  }

  /** Raises the write up to which all things are applied, from which the next applier reads the log. */
  async keepThrough(through: number): Promise<void> {
    await this.#documents.transact([throughName], ([kept]) => {
      const isOlder = ((kept as ThroughDocument | undefined)?.writeNumber ?? 0) < through
      const put = isOlder ? { [throughName]: { writeNumber: through } } : {}
      return { put, result: undefined, purpose: 'keep' }
    })
  }

  /**
   * Documents to put with states of the thing. Append them synchronously: the order of the calls keeps a newer mark from being removed.
   *
   * @param through the write up to which all things are applied
   */
  documents(thingId: string, mark: AppliedMark, through: number): DocumentPut {
    this.#kept.delete(thingId)
    return {
      [throughName]: { writeNumber: through },
      ...Object.fromEntries(this.#passed(through).map(passed => [markPrefix + passed, null])),
      [markPrefix + thingId]: { ...mark },
    }
  }

  /** The documents with this mark are stored. */
  keep(thingId: string, { writeNumber }: AppliedMark): void {
    this.#kept.set(thingId, writeNumber)
  }

  /** Some things whose marks `through` has passed. If their removal fails, the next start finds them. */
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

/** Number of applied records of a write, by the mark of its thing. */
export function appliedRecords(mark: AppliedMark | undefined, writeNumber: number): number {
  if (!mark || mark.writeNumber < writeNumber) return 0
  return mark.writeNumber > writeNumber
    ? Number.POSITIVE_INFINITY
    : (mark.records ?? Number.POSITIVE_INFINITY)
}
