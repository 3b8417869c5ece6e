import { ThingwireError } from '../../errors.ts'
import type { Append, Commit, DriverRecords, Page, Receipt } from '../contract.ts'
import type { GroupCommit } from '../group-commit.ts'
import { type MemoryDocuments, toTexts } from './documents.ts'
import { TimeLine } from './time-line.ts'
import { WriteIds } from './write-ids.ts'

interface Thing {
  readonly resources: Map<string, TimeLine>
  readonly writeIds: WriteIds
}

export function createMemoryRecords(
  commits: GroupCommit<() => Receipt | Error, Receipt>,
  documents: MemoryDocuments,
): DriverRecords {
  const things = new Map<string, Thing>()
  const listeners = new Set<(commit: Commit) => void>()
  let newestReceipt = 0
  let newestWriteNumber = 0

  return {
    append: async (write, ticket) => {
      const texts = toTexts(write.documents)
      return await commits.push(() => {
        if (ticket.expired) return new ThingwireError('store_timeout')
        documents.putTexts(texts)
        return commit(write)
      })
    },
    answerOf: async (thingId, id, now) => things.get(thingId)?.writeIds.answerOf(id, now),
    read: async (thingId, key, query): Promise<Page | undefined> =>
      things.get(thingId)?.resources.get(key)?.page(query),
    resources: async thingId =>
      [...(things.get(thingId)?.resources ?? [])]
        .flatMap(([key, { isEmpty }]) => (isEmpty ? [] : [key]))
        .sort(),
    remove: async (thingId, key, range) => things.get(thingId)?.resources.get(key)?.remove(range) ?? 0,
    removeThing: async thingId => {
      things.delete(thingId)
    },
    newestReceipt: () => newestReceipt,
    onCommit: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }

  function commit(write: Append): Receipt {
    const { id, answer, receivedAt, broadcast } = write
    const thing = thingOf(write.thingId)
    const first = id === undefined ? undefined : thing.writeIds.answerOf(id, receivedAt)
    if (first) return { writeNumber: 0, answer: first }
    const writeNumber = ++newestWriteNumber
    newestReceipt = Math.max(newestReceipt, receivedAt)
    const records = write.store ? keep(thing, write, writeNumber) : write.records
    if (id !== undefined) thing.writeIds.take(id, answer, receivedAt)
    for (const listener of listeners) listener({ thingId: write.thingId, writeNumber, records, broadcast })
    return { writeNumber, answer }
  }

  function thingOf(thingId: string): Thing {
    const thing = things.get(thingId) ?? { resources: new Map(), writeIds: new WriteIds() }
    things.set(thingId, thing)
    return thing
  }
}

/** @returns the records that were not stored before. */
function keep({ resources }: Thing, { records }: Append, writeNumber: number): Append['records'] {
  return records.filter(record => {
    const timeLine = resources.get(record.key) ?? new TimeLine()
    resources.set(record.key, timeLine)
    return timeLine.add(record, writeNumber)
  })
}
