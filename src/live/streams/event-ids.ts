import { randomBytes } from 'node:crypto'
import type { DocumentStore } from '../../core/ports.ts'

export const epochsName = 'streams-runs'
/** Maximum number of epochs kept. Event ids of older epochs are unknown, so streams cannot be resumed from them. */
const maximumEpochs = 100

/** The time from one opening of the store to the next. `from` is the number of the newest write when the epoch began. */
type Epoch = { readonly id: string; readonly from: number }

type EpochsDocument = { readonly runs: readonly Epoch[] }

/**
 * Event ids of streams. An id consists of an epoch and a write number, since the number alone is ambiguous: after a restore, the
 * numbers since the backup are used again, and another store has other writes with the same numbers. The store records the write
 * number at which each epoch began, so that an id is valid only if it still means the same write.
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
   * @param from number of the last write before the epoch; undefined continues the current epoch, as a shared store
   * does because it never reuses a write number.
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

  of(writeNumber: number): string {
    return `${this.#current}.${writeNumber}`
  }

  /** The write number of an event; undefined if the id is not valid in this store. */
  read(eventId: string): number | undefined {
    const [, id, digits] = /^([\w-]{8})\.(\d{1,16})$/.exec(eventId) ?? []
    const index = this.#epochs.findIndex(epoch => epoch.id === id)
    if (index === -1) return undefined
    const writeNumber = Number(digits)
    const end = this.#epochs[index + 1]?.from ?? Number.POSITIVE_INFINITY
    return writeNumber <= end ? writeNumber : undefined
  }
}
