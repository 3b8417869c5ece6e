import { listDocuments } from '../core/list-documents.ts'
import type { Commit, DocumentPut, DocumentStore } from '../core/ports.ts'

/** How far the magic records of a thing are applied. */
export type AppliedMark = {
  /** Those of every write up to this one. */
  readonly writeNumber: number
  /** Of this write so many only, where it is too large for one commit; absent: all. */
  readonly records?: number
}

export interface LoadedMarks {
  /** The write up to which all is applied. */
  readonly through: number
  /** By thing id. */
  readonly ofThings: ReadonlyMap<string, AppliedMark>
}

type ThroughDocument = { readonly writeNumber: number }

const throughName = 'magic/applied'
const markPrefix = `${throughName}/`
const removalsPerPut = 2

/** Whether a document says how far magic records are applied. */
export function isAppliedMark(name: string): boolean {
  return name === throughName || name.startsWith(markPrefix)
}

/** The same mark in another store, which has other write numbers. @param numberOf what becomes of a write number */
export function movedMark(mark: AppliedMark, numberOf: (writeNumber: number) => number): AppliedMark {
  return { ...mark, writeNumber: numberOf(mark.writeNumber) }
}

/**
 * What is applied, as documents that are put in the commit of the states: so nothing is applied twice, whenever the
 * process dies and whichever of the commits under way the store keeps.
 *
 * `magic/applied` is the write up to which all is applied; `magic/applied/<thing id>` says it of one thing, and goes
 * when the first has passed it.
 */
export class AppliedMarks {
  readonly #documents: Pick<DocumentStore, 'get' | 'list' | 'transact'>
  /** Marks that are in the store, by thing; the write number of each. */
  readonly #kept = new Map<string, number>()

  constructor(documents: Pick<DocumentStore, 'get' | 'list' | 'transact'>) {
    this.#documents = documents
  }

  /** What the store holds. */
  async load(): Promise<LoadedMarks> {
    const ofThings = new Map<string, AppliedMark>()
    for await (const [thingId, document] of listDocuments(this.#documents, markPrefix)) {
      const mark = document as AppliedMark
      ofThings.set(thingId, mark)
      this.#kept.set(thingId, mark.writeNumber)
    }
    // Read last: a mark may go meanwhile, once this has passed it.
    const through = (await this.#documents.get(throughName)) as ThroughDocument | undefined
    return { through: through?.writeNumber ?? 0, ofThings }
  }

  /**
   * Raises the write up to which all is applied, be it that no state has changed: what is behind it is read again by whoever
   * applies next.
   */
  async keepThrough(through: number): Promise<void> {
    await this.#documents.transact([throughName], ([kept]) => {
      const isOlder = ((kept as ThroughDocument | undefined)?.writeNumber ?? 0) < through
      const put = isOlder ? { [throughName]: { writeNumber: through } } : {}
      return { put, result: undefined, purpose: 'keep' }
    })
  }

  /**
   * What to put with states of the thing; to be appended at once, since the order of the calls is what keeps a newer
   * mark from being removed.
   *
   * @param through the write up to which all is applied
   */
  documents(thingId: string, mark: AppliedMark, through: number): DocumentPut {
    this.#kept.delete(thingId)
    return {
      [throughName]: { writeNumber: through },
      ...Object.fromEntries(this.#passed(through).map(passed => [markPrefix + passed, null])),
      [markPrefix + thingId]: { ...mark },
    }
  }

  /** The documents with this mark are in the store. */
  keep(thingId: string, { writeNumber }: AppliedMark): void {
    this.#kept.set(thingId, writeNumber)
  }

  /** Some things whose marks say no more than `through`. Where their removal fails, the next start finds them. */
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

/** Whether these marks leave nothing of the write to be applied. */
export function isApplied({ through, ofThings }: LoadedMarks, { thingId, writeNumber }: Commit): boolean {
  if (writeNumber <= through) return true
  return appliedRecords(ofThings.get(thingId), writeNumber) === Number.POSITIVE_INFINITY
}

/** How many records of a write are applied, if its thing has this mark. */
export function appliedRecords(mark: AppliedMark | undefined, writeNumber: number): number {
  if (!mark || mark.writeNumber < writeNumber) return 0
  return mark.writeNumber > writeNumber
    ? Number.POSITIVE_INFINITY
    : (mark.records ?? Number.POSITIVE_INFINITY)
}
