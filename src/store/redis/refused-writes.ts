import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { RedisDatabase } from './connection/database.ts'
import { Script } from './script.ts'

const addRefusedWrite = new Script('add-refused-write')

export function createRefusedWrites(database: RedisDatabase): RefusedWrites {
  return {
    async add(thingId, refused) {
      await database.run(addRefusedWrite, database.node, thingId, JSON.stringify(refused), keptRefusals)
    },
    async list(thingId, limit) {
      const newest = await database.call('LRANGE', database.keys.refused(thingId), 0, keptRefusals - 1)
      return (newest as readonly Buffer[])
        .slice(0, limit)
        .map(text => JSON.parse(text.toString()) as RefusedWrite)
    },
  }
}
