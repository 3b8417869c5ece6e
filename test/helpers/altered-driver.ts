import { appendTo, putTo } from '../../src/conformance/writes.ts'
import { settle, type Waiting } from '../../src/store/commit-ticket.ts'
import type {
  Append,
  DocumentPut,
  DriverDocuments,
  DriverRecords,
  Receipt,
  StoreDriver,
} from '../../src/store/contract.ts'

/** An append whose outcome is a promise: easier to be changed on its way than a ticket is. */
export type PromisedAppend = (write: Append, waiting: Waiting) => Promise<Receipt>

export type PromisedPut = (documents: DocumentPut, waiting: Waiting) => Promise<unknown>

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
  const altered = alter((put, waiting) => putTo(driver, put, waiting))
  const put: DriverDocuments['put'] = (documents, ticket) => settle(ticket, altered(documents, ticket))
  Object.assign(documents, { put })
}
