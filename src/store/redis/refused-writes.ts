import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { Partition } from './connection/partition.ts'
import { Script } from './script.ts'

/** How many refused writes of a thing are kept (contract §6). */
const kept = 100

const addRefusedWrite = new Script('add-refused-write')

export class RedisRefusedWrites implements RefusedWrites {
  readonly #partitionOf: (thingId: string) => Partition

  constructor(partitionOf: (thingId: string) => Partition) {
    this.#partitionOf = partitionOf
  }

  async add(thingId: string, refused: RefusedWrite): Promise<void> {
    const partition = this.#partitionOf(thingId)
    await partition.run(addRefusedWrite, partition.node, thingId, JSON.stringify(refused), kept)
  }

  async list(thingId: string, limit: number): Promise<readonly RefusedWrite[]> {
    const partition = this.#partitionOf(thingId)
    const newest = (await partition.call(
      'LRANGE',
      partition.keys.refused(thingId),
      0,
      kept - 1,
    )) as readonly Buffer[]
    return newest.slice(0, limit).map(text => JSON.parse(text.toString()) as RefusedWrite)
  }
}
