import type { Hold } from '../../core/holds.ts'
import type { CommitTicket, Document, DocumentPut, DriverDocuments } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import type { NumberedWrites } from './connection/numbered-writes.ts'
import { Script } from './script.ts'

/** Documents as Redis has them, as JSON; null removes. */
export type EncodedDocuments = readonly (readonly [name: string, json: string | null])[]

export interface DocumentCommits {
  /** Puts in the next group of commits. */
  put(documents: EncodedDocuments, ticket: CommitTicket<unknown>, hold: Hold | undefined): undefined
  /** Runs a task while this node writes nothing else. */
  alone<T>(task: () => Promise<T>): Promise<T>
}

const listDocuments = new Script('list-documents')
const putDocuments = new Script('put-documents')
/** Milliseconds that a put of a `transact` may take. */
const longestPut = 5_000

/**
 * The documents in Redis. A `transact` puts only if what it has read is still there, to the letter; another node may have
 * changed it meanwhile, and then it begins anew.
 *
 * @param writes of the same database
 */
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
      const [text = null] = await read([name])
      return decode(text)
    },

    async list(prefix, { after, limit }) {
      const isInside = after !== undefined && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0
      const from = isInside ? `(${after}` : `[${prefix}`
      // No UTF-8 text has this byte.
      const to = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)])
      const found = (await database.run(listDocuments, from, to, limit)) as readonly Buffer[]
      return pairs(found).map(([name, text]) => [name, decode(text) ?? {}])
    },

    put: (documents, ticket, hold) => commits.put(encodeDocuments(documents), ticket, hold),

    transact: (names, change) =>
      commits.alone(async () => {
        // Each round that fails is one in which another node has changed something: somebody always gets on.
        for (;;) {
          const texts = await read(names)
          const { put, result } = change(texts.map(decode))
          const documents = encodeDocuments(put)
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

export function encodeDocuments(documents: DocumentPut = {}): EncodedDocuments {
  return Object.entries(documents).map(([name, document]) => [name, document && JSON.stringify(document)])
}

function decode(text: string | null): Document | undefined {
  return text === null ? undefined : (JSON.parse(text) as Document)
}

function pairs(list: readonly Buffer[]): [name: string, text: string][] {
  return Array.from({ length: list.length / 2 }, (_, index) => [
    String(list[2 * index]),
    String(list[2 * index + 1]),
  ])
}
