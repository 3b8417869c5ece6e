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

/** A driver whose appends and puts are promises: easier to be changed on their way than tickets are. */
export interface PromisedDriver extends Omit<StoreDriver, 'records' | 'documents'> {
  readonly records: PromisedRecords
  readonly documents: PromisedDocuments
}

export interface PromisedRecords extends Omit<DriverRecords, 'append'> {
  append(write: Append, waiting: Waiting): Promise<Receipt>
}

export interface PromisedDocuments extends Omit<DriverDocuments, 'put'> {
  put(documents: DocumentPut, purpose: PutPurpose, waiting: Waiting, lock?: Lock): Promise<unknown>
}

export function promisedDriver(driver: StoreDriver): PromisedDriver {
  return {
    ...driver,
    records: replacing(driver.records, {
      append: (write: Append, waiting: Waiting) => appendTo(driver.records, write, waiting),
    }),
    documents: replacing(driver.documents, {
      put: (documents: DocumentPut, purpose: PutPurpose, waiting: Waiting, lock?: Lock) =>
        promised(waiting, ticket => driver.documents.put(documents, purpose, ticket, lock)),
    }),
  }
}

/** The other way round. */
export function settlingDriver(driver: PromisedDriver): StoreDriver {
  const { records, documents } = driver
  return {
    ...driver,
    records: replacing(records, {
      append: (write, ticket) => settle(ticket, records.append(write, ticket)),
    } satisfies Pick<DriverRecords, 'append'>),
    documents: replacing(documents, {
      put: (put, purpose, ticket, lock) => settle(ticket, documents.put(put, purpose, ticket, lock)),
    } satisfies Pick<DriverDocuments, 'put'>),
  }
}

/** The same with some methods replaced, whether it is an object or of a class. */
export function replacing<Whole extends object, Replaced extends object>(
  whole: Whole,
  replaced: Replaced,
): Omit<Whole, keyof Replaced> & Replaced {
  return new Proxy(whole, {
    get: (target, name) => {
      const own = Reflect.get(replaced, name)
      return own ?? (Reflect.get(target, name) as (...call: unknown[]) => unknown).bind(target)
    },
  }) as unknown as Omit<Whole, keyof Replaced> & Replaced
}
