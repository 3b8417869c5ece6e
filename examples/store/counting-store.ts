import { createMemoryStore, type StoreDriver } from 'thingwire'

/** A store of one's own: here one that another does the work for. `onAppend` is called with the number of records of each write. */
export function createCountingStore(onAppend: (records: number) => void): StoreDriver {
  const memory = createMemoryStore()
  return {
    ...memory,
    records: {
      ...memory.records,
      append: (write, commit) => {
        onAppend(write.records.length)
        return memory.records.append(write, commit)
      },
    },
  }
}
