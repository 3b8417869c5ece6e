import type { RecordStore, TimeRange } from '../../core/ports.ts'

/**
 * A range that begins with the first record of all keys if it has no start, and ends with the last one if it has no end. It stays
 * as it is without records.
 *
 * @throws ThingwireError those of a store that fails
 */
export async function rangeOfRecords(
  records: Pick<RecordStore, 'read'>,
  thingId: string,
  keys: readonly string[],
  range: TimeRange,
): Promise<TimeRange> {
  const from = range.from ?? (await ends('asc'))[0]
  const last = range.to === undefined ? (await ends('desc')).at(-1) : range.to - 1
  return { ...(from === undefined ? {} : { from }), ...(last === undefined ? {} : { to: last + 1 }) }

  /** Datetimes of the first or the last record of each key that has one, in their order. */
  async function ends(order: 'asc' | 'desc'): Promise<readonly number[]> {
    const datetimes: number[] = []
    for (const key of keys) {
      const page = await records.read(thingId, key, { ...range, order, limit: 1 })
      datetimes.push(...(page?.records ?? []).map(({ datetime }) => datetime))
    }
    return datetimes.sort((a, b) => a - b)
  }
}
