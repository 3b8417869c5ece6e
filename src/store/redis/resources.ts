import type { StoredRecord } from '../../core/record/record.ts'
import type { RedisDatabase } from './connection/database.ts'
import { decodeState } from './record-member.ts'

/** Sorted ids of the things that have any content: at most `limit` ids after `after`. @throws ThingwireError store_unavailable */
export async function thingIds(
  database: RedisDatabase,
  { after, limit }: { after?: string; limit: number },
): Promise<string[]> {
  const start = after === undefined ? '-' : `(${after}`
  const { things } = database.keys
  const found = await database.call('ZRANGE', things, start, '+', 'BYLEX', 'LIMIT', 0, limit)
  return (found as readonly Buffer[]).map(String)
}

/** The keys under which the thing has records now, sorted by their bytes. @throws ThingwireError store_unavailable */
export async function resourceNames(database: RedisDatabase, thingId: string): Promise<string[]> {
  // Reads all names in one command, so that the answer never shows part of a write.
  const names = (await database.call('ZRANGE', database.keys.resources(thingId), 0, -1)) as readonly Buffer[]
  return names.map(String)
}

/** The state of a magic resource; undefined if there is none. @throws ThingwireError store_unavailable */
export async function readState(
  database: RedisDatabase,
  thingId: string,
  key: string,
): Promise<StoredRecord | undefined> {
  const state = (await database.call('HGET', database.keys.states(thingId), key)) as Buffer | null
  return state ? decodeState(key, state) : undefined
}
