import type { Lock } from '../../core/locks.ts'
import type { CommitTicket, DriverDocuments } from '../contract.ts'
import { type DocumentTexts, documentOf, toTexts } from '../document-texts.ts'
import type { RedisDatabase } from './connection/database.ts'
import type { NumberedWrites } from './connection/numbered-writes.ts'
import { pairsIn, Script } from './script.ts'

export interface DocumentCommits {
  /** Puts the documents in the next group of commits. */
  put(documents: DocumentTexts, ticket: CommitTicket<unknown>, lock: Lock | undefined): undefined
  /** Runs a task while this node makes no other write. */
  alone<T>(task: () => Promise<T>): Promise<T>
}

const listDocuments = new Script('list-documents')
const putDocuments = new Script('put-documents')
/** Time limit of a put by `transact`, milliseconds. */
const longestPut = 5_000

/** The documents in Redis. `transact` puts only if the documents that it has read are unchanged; otherwise it starts over. */
export function createDocuments(
  database: RedisDatabase,
  writes: NumberedWrites,
  commits: DocumentCommits,
): DriverDocuments {
  const { keys } = database

  const read = async (names: readonly string[]): Promise<readonly (string | null)[]> => {
    if (names.length === 0) return []
    const texts = (await database.call('HMGET', keys.documents, ...names)) as readonly (Buffer | null)[]
    return texts.map(text => text?.toString() ?? null)
  }

  return {
    async get(name) {
      const [text] = await read([name])
      return documentOf(text)
    },

    async list(prefix, { after, limit }) {
      const found = pairsIn(await database.run(listDocuments, ...rangeOf(prefix, after), limit))
      return found.map(([name, json]) => [name, documentOf(json) ?? {}])
    },

    async names(prefix, { after, limit }) {
      const range = rangeOf(prefix, after)
      const names = await database.call('ZRANGEBYLEX', keys.documentNames, ...range, 'LIMIT', 0, limit)
      return (names as readonly Buffer[]).map(name => name.toString())
    },

    put: (documents, _purpose, ticket, lock) => commits.put(toTexts(documents), ticket, lock),

    transact: (names, change) =>
      commits.alone(async () => {
        // A round fails only if another node has changed these documents, so some node always succeeds.
        for (;;) {
          const texts = await read(names)
          const { put, result } = change(texts.map(documentOf))
          const documents = toTexts(put)
          if (documents.length === 0) return result
          const expected = names.flatMap((name, index) => [name, texts[index] ?? ''])
          const changed = documents.flatMap(([name, json]) => [name, json ?? ''])
          const at = performance.now() + longestPut
          const args = [names.length, ...expected, ...changed]
          const reply = await writes.run(putDocuments, { at, lastAt: at }, args)
          if (reply?.[0] === 1) return result
        }
      }),
  }
}

/** The range of ZRANGEBYLEX for the names that start with `prefix` and sort after `after` (exclusive). */
function rangeOf(prefix: string, after: string | undefined): [from: string, to: Buffer] {
  const isInside = after !== undefined && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0
  // UTF-8 never contains the byte 0xff.
  const to = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)])
  return [isInside ? `(${after}` : `[${prefix}`, to]
}
