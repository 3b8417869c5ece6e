import type { Document, DocumentStore } from '../contract.ts'
import type { Database } from './database.ts'
import { documentKey, documentKeys, nameInDocumentKey } from './keys.ts'

/** @param alone runs a task while nothing else is written */
export function createDocuments(
  database: Database,
  alone: <T>(task: () => Promise<T>) => Promise<T>,
): DocumentStore {
  return {
    async get(name) {
      return decode(await database.use(async () => database.level.get(documentKey(name))))
    },

    async list(prefix, { after, limit }) {
      const range = documentKeys(prefix)
      const isInside = after !== undefined && Buffer.compare(documentKey(after), range.gte) >= 0
      const bounds = isInside ? { gt: documentKey(after), lt: range.lt } : range
      const entries = await database.use(async () => database.level.iterator({ ...bounds, limit }).all())
      return entries.map(([key, bytes]) => [nameInDocumentKey(key), decode(bytes) ?? {}])
    },

    transact: (names, change) =>
      alone(() =>
        database.use(async () => {
          const stored = await database.level.getMany(names.map(documentKey))
          const { put, result } = change(stored.map(decode))
          const changes = Object.entries(put)
          if (changes.length === 0) return result
          const batch = database.batch()
          for (const [name, document] of changes) {
            if (document === null) batch.del(documentKey(name))
            else batch.put(documentKey(name), Buffer.from(JSON.stringify(document)))
          }
          await database.write(batch, { sync: true })
          return result
        }),
      ),
  }
}

function decode(bytes: Buffer | undefined): Document | undefined {
  return bytes && (JSON.parse(bytes.toString()) as Document)
}
