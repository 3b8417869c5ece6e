import { appendTo } from '../../src/conformance/writes.ts'
import type { Lock } from '../../src/core/locks.ts'
import { promised, settle, type Waiting } from '../../src/store/commit-ticket.ts'
import type {
  Append,
  DocumentPut,
  DriverDocuments,
  DriverRecords,
  PutPurpose,
  Receipt,
  StoreDriver,
} from '../../src/store/contract.ts'

/** An append whose outcome is a promise: easier to be changed on its way than a ticket is. */
export type PromisedAppend = (write: Append, waiting: Waiting) => Promise<Receipt>

export type PromisedPut = (
  documents: DocumentPut,
  purpose: PutPurpose,
  waiting: Waiting,
  lock?: Lock,
) => Promise<unknown>

export function promisedAppend(records: DriverRecords): PromisedAppend {
  const driver = { append: records.append.bind(records) }
  return (write, waiting) => appendTo(driver, write, waiting)
}

export function promisedPut(documents: DriverDocuments): PromisedPut {
  const right = documents.put.bind(documents)
  return (put, purpose, waiting, lock) => promised(waiting, ticket => right(put, purpose, ticket, lock))
}

export function settlingAppend(append: PromisedAppend): DriverRecords['append'] {
  return (write, ticket) => settle(ticket, append(write, ticket))
}

export function settlingPut(put: PromisedPut): DriverDocuments['put'] {
  return (documents, purpose, ticket, lock) => settle(ticket, put(documents, purpose, ticket, lock))
}

/** Gives the driver another `append`, made of the one that it has. */
export function alterAppends(
  { records }: StoreDriver,
  alter: (append: PromisedAppend) => PromisedAppend,
): void {
  Object.assign(records, { append: settlingAppend(alter(promisedAppend(records))) })
}

/** Gives the driver another `put`, made of the one that it has. */
export function alterPuts({ documents }: StoreDriver, alter: (put: PromisedPut) => PromisedPut): void {
  Object.assign(documents, { put: settlingPut(alter(promisedPut(documents))) })
}
