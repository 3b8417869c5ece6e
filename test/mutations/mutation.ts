import type { NewRecord } from '../../src/core/record/record.ts'
import type {
  Append,
  DriverDocuments,
  DriverLocks,
  DriverRecords,
  LatestOfThing,
  LatestQuery,
  Page,
  PageQuery,
  StoreDriver,
} from '../../src/store/contract.ts'
import {
  type PromisedAppend,
  type PromisedPut,
  promisedAppend,
  promisedPut,
  settlingAppend,
  settlingPut,
} from '../helpers/altered-driver.ts'

export type PromisedRecords = Omit<DriverRecords, 'append'> & { readonly append: PromisedAppend }
export type PromisedDocuments = Omit<DriverDocuments, 'put'> & { readonly put: PromisedPut }

type LatestPages = (query: LatestQuery) => AsyncIterable<readonly LatestOfThing[]>

/** Mutations by name. */
export type Mutations = Readonly<Record<string, Mutation>>

/** One promise of `store/contract.ts`, broken: the conformance suite has to notice. */
export interface Mutation {
  /** The promise, and how a real store might come to break it. */
  readonly why: string
  /** The write that is appended in the place of the one that was sent. */
  readonly write?: (write: Append) => Append
  /** The same of each of its records. */
  readonly record?: (record: NewRecord) => NewRecord
  /** The page that a read gives in the place of the right one. */
  readonly page?: (page: Page, query: PageQuery) => Page | undefined
  /** Methods of the records in the place of the right ones. */
  readonly records?: (right: PromisedRecords, documents: PromisedDocuments) => Partial<PromisedRecords>
  /** Methods of the documents in the place of the right ones. */
  readonly documents?: (right: PromisedDocuments) => Partial<PromisedDocuments>
  /** `latest` of every snapshot, given the right one. */
  readonly latest?: (
    right: PromisedRecords,
  ) => (query: LatestQuery, latest: LatestPages) => ReturnType<LatestPages>
  readonly locks?: () => DriverLocks
}

/** A driver that keeps its promises but for the one that the mutation breaks. */
export function mutated(driver: StoreDriver, mutation: Mutation): StoreDriver {
  const records = replacing(driver.records, { append: promisedAppend(driver.records) })
  const documents = replacing(driver.documents, { put: promisedPut(driver.documents) })
  const ofRecords = replacing(records, brokenRecords(records, documents, mutation))
  const ofDocuments = replacing(documents, mutation.documents?.(documents) ?? {}) as PromisedDocuments
  return {
    ...driver,
    ...(mutation.locks && { locks: mutation.locks() }),
    records: replacing(ofRecords, { append: settlingAppend(ofRecords.append) }),
    documents: replacing(ofDocuments, { put: settlingPut(ofDocuments.put) }),
  }
}

/** The same with some methods replaced, whether it is an object or of a class. */
function replacing<Whole extends object, Replaced extends object>(whole: Whole, replaced: Replaced) {
  return new Proxy(whole, {
    get: (target, name) => {
      const own = Reflect.get(replaced, name)
      return own ?? (Reflect.get(target, name) as (...call: unknown[]) => unknown).bind(target)
    },
  }) as unknown as Omit<Whole, keyof Replaced> & Replaced
}

function brokenRecords(records: PromisedRecords, documents: PromisedDocuments, mutation: Mutation) {
  const { record: changeRecord, page: changePage } = mutation
  const ofRecords = (write: Append) => ({
    ...write,
    records: write.records.map(each => changeRecord?.(each) ?? each),
  })
  const change = mutation.write ?? (changeRecord && ofRecords)
  const latest = mutation.latest?.(records)
  return {
    ...(change && { append: (write, ticket) => records.append(change(write), ticket) }),
    ...(changePage && {
      read: async (thingId, key, query) => {
        const page = await records.read(thingId, key, query)
        return page && changePage(page, query)
      },
    }),
    ...(latest && {
      snapshot: async () => {
        const snapshot = await records.snapshot()
        return {
          writeNumber: snapshot.writeNumber,
          latest: query => latest(query, each => snapshot.latest(each)),
          close: () => snapshot.close(),
        }
      },
    }),
    ...mutation.records?.(records, documents),
  } as PromisedRecords
}

/** Much more than any test of the suite stores. */
export const everything = 1_000_000

/** An `append` as the right one, and those of its calls that have not settled. */
export function observed(right: PromisedRecords) {
  const pending = new Set<Promise<unknown>>()
  const append: PromisedRecords['append'] = (write, ticket) => {
    const receipt = right.append(write, ticket)
    const settled = () => pending.delete(receipt)
    pending.add(receipt)
    receipt.then(settled, settled)
    return receipt
  }
  return { pending, append }
}
