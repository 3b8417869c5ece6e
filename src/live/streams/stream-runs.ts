import { randomBytes } from 'node:crypto'
import type { DocumentStore } from '../../core/ports.ts'

const documentName = 'streams-runs'
/** Positions of older runs are unknown: no stream can be resumed over so many. */
const maximumRuns = 100

/** A life of the process on the store. */
type Run = { readonly id: string; readonly from: number }

/** `streams-runs` */
type RunsDocument = { readonly runs: readonly Run[] }

/**
 * Spells write numbers as the positions that clients of a stream hold, and reads only those that mean the same write
 * today: a store that was restored gives the numbers behind its copy again, and another store has others altogether.
 * So a position names the run in which it was given out, and the store keeps with which number each run began.
 */
export class StreamRuns {
  readonly #runs: readonly Run[]
  readonly #current: string

  private constructor(runs: readonly Run[], current: string) {
    this.#runs = runs
    this.#current = current
  }

  /**
   * Begins a run.
   *
   * @param from write number behind which it begins
   */
  static async begin(documents: DocumentStore, from: number): Promise<StreamRuns> {
    const id = randomBytes(6).toString('base64url')
    const runs = await documents.transact([documentName], ([document]) => {
      const before = document ? (document as RunsDocument).runs : []
      const result = [...before, { id, from }].slice(-maximumRuns)
      return { put: { [documentName]: { runs: result } }, result, purpose: 'essential' }
    })
    return new StreamRuns(runs, id)
  }

  /** The one run of a store whose write numbers are never given again, whichever node opens it. */
  static async shared(documents: DocumentStore): Promise<StreamRuns> {
    const id = randomBytes(6).toString('base64url')
    const runs = await documents.transact([documentName], ([document]) => {
      if (document) return { put: {}, result: (document as RunsDocument).runs }
      const result = [{ id, from: 0 }]
      return { put: { [documentName]: { runs: result } }, result }
    })
    return new StreamRuns(runs, runs.at(-1)?.id ?? id)
  }

  /** The position behind a write. */
  position(writeNumber: number): string {
    return `${this.#current}.${writeNumber}`
  }

  /** The number of the write that a position is behind; undefined if it is none of this store. */
  read(position: string): number | undefined {
    const [, id, digits] = /^([\w-]{8})\.(\d{1,16})$/.exec(position) ?? []
    const index = this.#runs.findIndex(run => run.id === id)
    if (index === -1) return undefined
    const writeNumber = Number(digits)
    const end = this.#runs[index + 1]?.from ?? Number.POSITIVE_INFINITY
    return writeNumber <= end ? writeNumber : undefined
  }
}
