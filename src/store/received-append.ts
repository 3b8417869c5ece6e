import { type AcceptedRecord, acceptedAt } from '../core/record.ts'
import type { Append } from './contract.ts'

/** An append with its receipt time, which its records have as datetime where they have none of their own. */
export interface ReceivedAppend extends Append {
  readonly records: readonly AcceptedRecord[]
  /** Milliseconds. */
  readonly receivedAt: number
}

/** @param receivedAt milliseconds */
export function received(write: Append, receivedAt: number): ReceivedAppend {
  return { ...write, records: write.records.map(record => acceptedAt(record, receivedAt)), receivedAt }
}
