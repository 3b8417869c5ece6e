import { waitedFor } from '../../../src/conformance/writes.ts'
import { ThingwireError } from '../../../src/errors.ts'
import type { Append, Receipt } from '../../../src/store/contract.ts'
import { Committer } from '../../../src/store/redis/committer.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { Partition } from '../../../src/store/redis/connection/partition.ts'
import { Keys } from '../../../src/store/redis/keys.ts'
import type { Client } from '../../../src/store/redis/script.ts'

let newest = 0

/** A partition that is new and empty, as one node has it. */
export function newPartition(client: Client, number = 0): Partition {
  newest++
  return new Partition(new Keys(`test${newest}`, number), `node${newest}`, client)
}

/** The same partition over another connection: another node's. */
export function samePartition(partition: Partition, client: Client): Partition {
  newest++
  return new Partition(partition.keys, `node${newest}`, client)
}

/** It has read nothing, and is brought nothing. */
export const noFollower = { newestRead: 0, take: () => 0 }
const committers = new WeakMap<Partition, Committer>()

/** Commits writes as one group. */
export async function append(partition: Partition, ...writes: readonly Append[]): Promise<Receipt[]> {
  const pending = writes.map(write => ({
    change: { write, documents: [], hold: write.hold },
    ticket: waitedFor(),
  }))
  const committer = committers.get(partition) ?? new Committer(new NumberedWrites(partition), noFollower)
  committers.set(partition, committer)
  const results = await committer.commit(pending)
  return results.map(result => {
    if (result instanceof ThingwireError) throw result
    return result as Receipt
  })
}

/** Runs it at once: nothing was handed in before. */
export async function alone<T>(task: () => Promise<T>): Promise<T> {
  return await task()
}

/** Makes the log look as if 100,000 entries had come behind this write. */
export async function crowdLog(partition: Partition, writeNumber: number): Promise<void> {
  await partition.call('DEL', partition.keys.logMarks)
  await partition.call('RPUSH', partition.keys.logMarks, ...Array<number>(100).fill(writeNumber))
}
