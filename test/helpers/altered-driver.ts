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

/** Gives the driver another `append`, made of the one that it has. */
export function alterAppends(
  { records }: StoreDriver,
  alter: (append: PromisedAppend) => PromisedAppend,
): void {
  const driver = { append: records.append.bind(records) }
  const altered = alter((write, waiting) => appendTo(driver, write, waiting))
  const append: DriverRecords['append'] = (write, ticket) => settle(ticket, altered(write, ticket))
  Object.assign(records, { append })
}

/** Gives the driver another `put`, made of the one that it has. */
export function alterPuts({ documents }: StoreDriver, alter: (put: PromisedPut) => PromisedPut): void {
  const driver = { put: documents.put.bind(documents) }
  const altered = alter((put, purpose, waiting, lock) =>
    promised(waiting, ticket => driver.put(put, purpose, ticket, lock)),
  )
  const put: DriverDocuments['put'] = (documents, purpose, ticket, lock) =>
    settle(ticket, altered(documents, purpose, ticket, lock))
  Object.assign(documents, { put })
}
