import type { Document, DocumentStore } from '../contract.ts'

/** Documents are kept as JSON text, so that nobody shares an object with the store. */
export function createMemoryDocuments(): DocumentStore {
  const texts = new Map<string, string>()

  return {
    get: async name => read(name),
    list: async (prefix, { after = '', limit }) => {
      const names = [...texts.keys()].filter(name => name.startsWith(prefix) && name > after).sort()
      return names.slice(0, limit).map(name => [name, read(name) as Document] as [string, Document])
    },
    transact: async (names, change) => {
      const { put, result } = change(names.map(read))
      const changed = Object.entries(put).map(
        ([name, document]) => [name, document && JSON.stringify(document)] as const,
      )
      for (const [name, text] of changed) {
        if (text === null) texts.delete(name)
        else texts.set(name, text)
      }
      return result
    },
  }

  function read(name: string): Document | undefined {
    const text = texts.get(name)
    return text === undefined ? undefined : (JSON.parse(text) as Document)
  }
}
