import { appendTo } from '../../src/conformance/writes.ts'
import type { Hold } from '../../src/core/holds.ts'
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
  hold?: Hold,
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
  const altered = alter((put, purpose, waiting, hold) =>
    promised(waiting, ticket => driver.put(put, purpose, ticket, hold)),
  )
  const put: DriverDocuments['put'] = (documents, purpose, ticket, hold) =>
    settle(ticket, altered(documents, purpose, ticket, hold))
  Object.assign(documents, { put })
}
