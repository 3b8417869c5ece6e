import { ThingwireError } from '../../errors.ts'
import { settle } from '../commit-ticket.ts'
import type { Document, DriverDocuments } from '../contract.ts'
import { type DocumentTexts, documentOf, toTexts } from '../document-texts.ts'
import type { GroupCommit } from '../group-commit.ts'

export interface MemoryDocuments extends DriverDocuments {
  /** Puts the documents of a commit. */
  putTexts(texts: DocumentTexts): void
}

export function createMemoryDocuments(commits: Pick<GroupCommit<never, unknown>, 'alone'>): MemoryDocuments {
  const stored = new Map<string, string>()

  return {
    get: async name => read(name),
    list: async (prefix, options) =>
      names(prefix, options).map(name => [name, read(name) as Document] as [string, Document]),
    names: async (prefix, options) => names(prefix, options),
    put: (documents, _purpose, ticket) => {
      const texts = toTexts(documents)
      const putting = commits.alone(async () => {
        if (ticket.expired) throw new ThingwireError('store_timeout')
        putTexts(texts)
      })
      settle(ticket, putting)
    },
    transact: (names, change) =>
      commits.alone(async () => {
        const { put, result } = change(names.map(read))
        putTexts(toTexts(put))
        return result
      }),
    putTexts,
  }

  function putTexts(texts: DocumentTexts): void {
    for (const [name, text] of texts) {
      if (text === null) stored.delete(name)
      else stored.set(name, text)
    }
  }

  function names(prefix: string, { after = '', limit }: { after?: string; limit: number }): string[] {
    const found = [...stored.keys()].filter(name => name.startsWith(prefix) && name > after)
    return found.sort().slice(0, limit)
  }

  function read(name: string): Document | undefined {
    return documentOf(stored.get(name))
  }
}
