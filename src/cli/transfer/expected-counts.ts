import type { ServerClient } from '../client/client.ts'
import { RefusedError } from '../client/client.ts'
import { countRecords } from '../reading/read-records.ts'
import type { WrittenRecord } from '../records/sourced.ts'

interface Expected {
  count: number
  /** Datetime of the last counted record. `atDatetime` has the records with it: equal ones count once, as in the store. */
  datetime: unknown
  readonly atDatetime: Set<string>
}

/** A resource that has fewer records on the server than in the file. */
interface Missing {
  readonly thingId: string
  readonly key: string
  readonly expected: number
  readonly stored: number
}

/** Determines the minimum number of records that each resource must have after the import. */
export class ExpectedCounts {
  readonly #things = new Map<string, Map<string, Expected>>()

  clear(): void {
    this.#things.clear()
  }

  add(thingId: string, { key, value, geo, datetime }: WrittenRecord): void {
    const resources = this.#things.get(thingId) ?? new Map<string, Expected>()
    this.#things.set(thingId, resources)
    const expected = resources.get(key) ?? { count: 0, datetime: undefined, atDatetime: new Set() }
    resources.set(key, expected)
    if (expected.datetime !== datetime) {
      expected.datetime = datetime
      expected.atDatetime.clear()
    }
    const record = JSON.stringify([value, geo])
    if (expected.atDatetime.has(record)) return
    expected.atDatetime.add(record)
    expected.count++
  }

  /**
   * Compares the counts with those of the server.
   *
   * @returns in `resources` the number of compared resources; all paths of the settings count as one
   */
  async compare(client: ServerClient): Promise<{ resources: number; missing: Missing[] }> {
    const missing: Missing[] = []
    const listed = new Set<string>()
    for (const [thingId, keys] of this.#things) {
      for (const [key, { count: expected }] of keys) {
        listed.add(`${thingId} ${key.startsWith('$settings.') ? '$settings' : key}`)
        const stored = await countOf(client, thingId, key)
        if (stored < expected) missing.push({ thingId, key, expected, stored })
      }
    }
    return { resources: listed.size, missing }
  }
}

async function countOf(client: ServerClient, thingId: string, key: string): Promise<number> {
  try {
    return await countRecords(client, thingId, key)
  } catch (error) {
    if (error instanceof RefusedError && error.reason === 'unknown_resource') return 0
    throw error
  }
}
