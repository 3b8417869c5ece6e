import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import { Script } from './script.ts'

const addRefusedWrite = new Script('add-refused-write')

export class RedisRefusedWrites implements RefusedWrites {
  readonly #database: RedisDatabase

  constructor(database: RedisDatabase) {
    this.#database = database
  }

  async add(thingId: string, refused: RefusedWrite): Promise<void> {
    const { node } = this.#database
    await this.#database.run(addRefusedWrite, node, thingId, JSON.stringify(refused), keptRefusals)
  }

  async list(thingId: string, limit: number): Promise<readonly RefusedWrite[]> {
    const refused = this.#database.keys.refused(thingId)
    const newest = (await this.#database.call('LRANGE', refused, 0, keptRefusals - 1)) as readonly Buffer[]
    return newest.slice(0, limit).map(text => JSON.parse(text.toString()) as RefusedWrite)
  }
}
