import { ClassicLevel } from 'classic-level'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { namedRecords } from '../../src/store/level/chunks/record-chunk.ts'
import {
  keysOf,
  namesInThingKey,
  type Position,
  positionInRecordKey,
  prefix,
  resourceInRecordKey,
} from '../../src/store/level/keys.ts'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { decodeMember, writeNumberInState } from '../../src/store/redis/record-member.ts'

/** A record of the load in its place of the commit order. */
interface Stored extends Omit<Position, 'datetime'> {
  readonly value: string
}

/** What a thing was written, in commit order. */
export interface CommitOrder {
  /** Values of the records. */
  readonly values: readonly string[]
  /** First value of each write. */
  readonly writes: readonly string[]
}

/** By thing id. All values have to be texts. */
export type CommitOrders = ReadonlyMap<string, CommitOrder>

/** Runs the task on the store of a data directory that no server holds. */
export async function withLevel<T>(
  dataDir: string,
  task: (level: ClassicLevel<Buffer, Buffer>) => Promise<T>,
): Promise<T> {
  const level = new ClassicLevel<Buffer, Buffer>(storeLocation(dataDir), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
  try {
    return await task(level)
  } finally {
    await level.close()
  }
}

/** Of a data directory that no server holds. */
export function ordersInLevel(dataDir: string): Promise<CommitOrders> {
  return withLevel(dataDir, async level => {
    const thingOf = new Map<number, string>()
    for await (const [name, number] of level.iterator(keysOf(prefix.resource))) {
      thingOf.set(number.readUInt32BE(), namesInThingKey(name).thingId)
    }
    const stored = new Map<string, Stored[]>()
    for await (const entry of level.iterator(keysOf(prefix.record))) {
      for (const { name, record } of namedRecords('', entry)) {
        const thingId = thingOf.get(resourceInRecordKey(name)) ?? ''
        const ofThing = stored.get(thingId) ?? []
        ofThing.push({ ...positionInRecordKey(name), value: String(JSON.parse(record.value)) })
        stored.set(thingId, ofThing)
      }
    }
    return new Map([...stored].map(([thingId, records]) => [thingId, orderOf(records)]))
  })
}

/** @param url of the Redis */
export async function ordersInRedis(url: string, thingIds: readonly string[]): Promise<CommitOrders> {
  const keys = redisKeys('thingwire')
  const client = await openClient(url)
  try {
    const orders = thingIds.map(async thingId => {
      const stored: Stored[] = []
      for (const key of await client.zrange(keys.resources(thingId), 0, -1)) {
        for (const member of await client.zrangeBuffer(keys.records(thingId, key), 0, -1)) {
          const value = String(JSON.parse(decodeMember(key, 0, member).value))
          stored.push({ writeNumber: writeNumberInState(member), place: member.readUInt16BE(7), value })
        }
      }
      return [thingId, orderOf(stored)] as const
    })
    return new Map(await Promise.all(orders))
  } finally {
    client.disconnect()
  }
}

function orderOf(records: readonly Stored[]): CommitOrder {
  const sorted = records.toSorted((a, b) => a.writeNumber - b.writeNumber || a.place - b.place)
  const isFirst = ({ writeNumber }: Stored, index: number) => sorted[index - 1]?.writeNumber !== writeNumber
  return {
    values: sorted.map(({ value }) => value),
    writes: sorted.filter(isFirst).map(({ value }) => value),
  }
}
