import type { AcceptedRecord } from '../../core/record.ts'
import { recordKey } from './keys.ts'

/**
 * The keys that a group has put and that were not there before. Those of records are only made if they are asked for, which
 * is when the write has failed: they would be a third of what a record leaves to the collector.
 */
export class AddedKeys implements Iterable<Buffer> {
  readonly #keys: Buffer[] = []
  readonly #records: AcceptedRecord[] = []
  /** Of each record: its resource, then its write. */
  readonly #numbers: number[] = []

  add(key: Buffer): void {
    this.#keys.push(key)
  }

  addRecord(resource: number, record: AcceptedRecord, writeNumber: number): void {
    this.#records.push(record)
    this.#numbers.push(resource, writeNumber)
  }

  *[Symbol.iterator](): Generator<Buffer> {
    yield* this.#keys
    for (const [index, { datetime, place }] of this.#records.entries()) {
      const resource = this.#numbers[2 * index] ?? 0
      const writeNumber = this.#numbers[2 * index + 1] ?? 0
      yield recordKey(resource, datetime, writeNumber, place)
    }
  }
}
