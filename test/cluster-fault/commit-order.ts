import { openClient } from '../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { decodeMember, writeNumberInState } from '../../src/store/redis/record-member.ts'
import { type CommitOrder, orderOf, type Stored } from '../fault/commit-order.ts'

const keys = redisKeys('thingwire')

/** By thing id; of things of which all values are texts. @param url of the Redis */
export async function commitOrders(
  url: string,
  thingIds: readonly string[],
): Promise<ReadonlyMap<string, CommitOrder>> {
  const client = await openClient(url)
  try {
    const orders = thingIds.map(async thingId => {
      const stored: Stored[] = []
      for (const key of await client.zrange(keys.resources(thingId), 0, -1)) {
        for (const member of await client.zrangeBuffer(keys.records(thingId, key), 0, -1)) {
          const value = String(JSON.parse(decodeMember(key, 0, member).value))
          const [writeNumber, place] = [writeNumberInState(member), member.readUInt16BE(7)]
          stored.push({ datetime: 0, writeNumber, place, value })
        }
      }
      return [thingId, orderOf(stored)] as const
    })
    return new Map(await Promise.all(orders))
  } finally {
    client.disconnect()
  }
}
