import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { ConformanceOptions } from '../../src/conformance/index.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { type Compaction, usualCompaction } from '../../src/store/level/compaction/compactor.ts'
import { formatVersion } from '../../src/store/level/database/identity.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { formatKey } from '../../src/store/level/keys.ts'
import { createCompactingStore } from '../../src/store/level/store.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { formatVersion as redisFormatVersion } from '../../src/store/redis/connection/format.ts'
import { createRedisStore } from '../../src/store/redis/index.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'

/** What the conformance suite needs to know of a store. */
export type StoreUnderTest = Omit<ConformanceOptions, 'test'>

export const memory: StoreUnderTest = {
  capabilities: { durable: false, shared: false, backup: false },
  factory: async () => ({ driver: createMemoryStore, cleanUp: async () => {} }),
}

export const level = levelWith(location => createLevelStore({ location }))

/** Packs whatever follows each other, all the time, into runs of a few records. */
export const eagerPacking: Compaction = {
  ...{ newest: 0, records: 8, least: 2, growth: 1, fewestOfDay: 1, firstLook: 0 },
  rests: { idle: 0, busy: 0 },
}

/** Leaves everything as it is written. */
export const noPacking: Compaction = { ...usualCompaction, firstLook: 2 ** 31 - 1 }

/** What is committed is packed at once. */
export const packingLevel = levelWith(location => createCompactingStore({ location }, eagerPacking))

function levelWith(driverIn: (location: string) => StoreDriver): StoreUnderTest {
  const factory = async () => {
    const location = await mkdtemp(join(tmpdir(), 'thingwire-level-'))
    return {
      driver: () => driverIn(location),
      cleanUp: () => rm(location, { recursive: true, force: true }),
      writeNewerFormat: async () => {
        const database = new ClassicLevel<Buffer, string>(location, { keyEncoding: 'buffer' })
        await database.put(formatKey, String(formatVersion + 1))
        await database.close()
      },
    }
  }
  return { capabilities: { durable: true, shared: false, backup: true }, factory }
}

/** On a Redis of the tests' own, a prefix for each place; what was there goes with the server. */
export function redisAt(url: () => string): StoreUnderTest {
  return {
    capabilities: { durable: true, shared: true, backup: false },
    factory: async () => {
      const prefix = randomUUID()
      return {
        driver: () => createRedisStore({ url: url(), prefix }),
        cleanUp: async () => {},
        writeNewerFormat: async () => {
          const client = await openClient(url())
          await client.hset(redisKeys(prefix).meta, 'format', redisFormatVersion + 1)
          client.disconnect()
        },
      }
    },
  }
}
