import type { CommitTicket, DocumentPut, DriverDocuments } from '../contract.ts'
import { documentOf, toTexts } from '../document-texts.ts'
import type { Database } from './database/database.ts'
import type { DiskSpace } from './database/disk-space.ts'
import type { Head } from './database/head.ts'
import { firstEntries, firstKeys } from './database/scan.ts'
import { behind, documentKey, documentKeys, type KeyRange, nameInDocumentKey } from './keys.ts'

/** Documents as entries of the database; null removes the document. */
export type EncodedDocuments = readonly (readonly [key: Buffer, bytes: Buffer | null])[]

export interface DocumentCommits {
  /** Puts the documents in the next group of commits. */
  put(documents: EncodedDocuments, ticket: CommitTicket<unknown>): undefined
  /** Runs a task while nothing else is written. */
  alone<T>(task: () => Promise<T>): Promise<T>
}

export function createDocuments(
  database: Database,
  head: Head,
  space: Pick<DiskSpace, 'assertFor'>,
  commits: DocumentCommits,
): DriverDocuments {
  return {
    async get(name) {
      return documentOf(await database.read(async () => database.level.get(documentKey(name))))
    },

    async list(prefix, { after, limit }) {
      const entries = await database.read(() => firstEntries(database, rangeOf(prefix, after), { limit }))
      return entries.map(([key, bytes]) => [nameInDocumentKey(key), documentOf(bytes) ?? {}])
    },

    async names(prefix, { after, limit }) {
      const keys = await database.read(() => firstKeys(database, rangeOf(prefix, after), limit))
      return keys.map(nameInDocumentKey)
    },

    put(documents, purpose, ticket) {
      const encoded = encodeDocuments(documents)
      try {
        space.assertFor(encoded, purpose)
      } catch (error) {
        ticket.reject(error)
        return undefined
      }
      return commits.put(encoded, ticket)
    },

    transact: (names, change) =>
      commits.alone(() =>
        database.use(async () => {
          const stored = await database.level.getMany(names.map(documentKey))
          const { put, result, purpose } = change(stored.map(documentOf))
          const documents = encodeDocuments(put)
          if (documents.length === 0) return result
          space.assertFor(documents, purpose)
          const batch = database.batch()
          for (const [key, bytes] of documents) {
            if (bytes === null) batch.del(key)
            else batch.put(key, bytes)
          }
          // Stores the write number. The documents may name it although its write was not stored, so it must not be assigned again.
          head.put(batch, head.counters)
          await database.write(batch, { sync: true })
          return result
        }),
      ),
  }
}

/** The keys of the documents with names that start with `prefix` and sort after `after` (exclusive). */
function rangeOf(prefix: string, after: string | undefined): KeyRange {
  const range = documentKeys(prefix)
  const isInside = after !== undefined && Buffer.compare(documentKey(after), range.gte) >= 0
  return isInside ? { ...range, gte: behind(documentKey(after)) } : range
}

export function encodeDocuments(documents?: DocumentPut): EncodedDocuments {
  return toTexts(documents).map(([name, json]) => [
    documentKey(name),
    json === null ? null : Buffer.from(json),
  ])
}
