import { randomBytes } from 'node:crypto'
import type { DocumentStore } from '../../core/ports.ts'

export const epochsName = 'streams-runs'
/** Ids of older epochs are unknown: no stream can be resumed over so many. */
const maximumEpochs = 100

/** The time from one opening of the store to the next. */
type Epoch = { readonly id: string; readonly from: number }

/** `streams-runs` */
type EpochsDocument = { readonly runs: readonly Epoch[] }

/**
 * Spells write numbers as the ids of events that clients of a stream hold, and reads only those that mean the same write
 * today: a store that was restored gives the numbers behind its copy again, and another store has others altogether.
 * So an id names the epoch in which it was given out, and the store keeps with which number each epoch began.
 */
export class EventIds {
  readonly #epochs: readonly Epoch[]
  readonly #current: string

  private constructor(epochs: readonly Epoch[], current: string) {
    this.#epochs = epochs
    this.#current = current
  }

  /**
   * Begins an epoch.
   *
   * @param from write number behind which it begins; undefined: it goes on with the epoch that there is, of a store whose write
   * numbers are never given again, whichever node opens it
   */
  static async begin(documents: DocumentStore, from?: number): Promise<EventIds> {
    const id = randomBytes(6).toString('base64url')
    const epochs = await documents.transact([epochsName], ([document]) => {
      const before = document ? (document as EpochsDocument).runs : []
      if (document && from === undefined) return { put: {}, result: before, purpose: 'essential' }
      const result = [...before, { id, from: from ?? 0 }].slice(-maximumEpochs)
      return { put: { [epochsName]: { runs: result } }, result, purpose: 'essential' }
    })
    return new EventIds(epochs, epochs.at(-1)?.id ?? id)
  }

  /** The id of the event of a write. */
  of(writeNumber: number): string {
    return `${this.#current}.${writeNumber}`
  }

  /** The number of the write of an event; undefined if the id is none of this store. */
  read(eventId: string): number | undefined {
    const [, id, digits] = /^([\w-]{8})\.(\d{1,16})$/.exec(eventId) ?? []
    const index = this.#epochs.findIndex(epoch => epoch.id === id)
    if (index === -1) return undefined
    const writeNumber = Number(digits)
    const end = this.#epochs[index + 1]?.from ?? Number.POSITIVE_INFINITY
    return writeNumber <= end ? writeNumber : undefined
  }
}
