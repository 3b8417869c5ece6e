import type { ReadingRecord } from '../../api/records.ts'

/**
 * The key that a page shows until the user chooses a key: the key with the newest number or, without numbers, the newest value.
 * Of several keys with the same datetime, the last key of the list.
 *
 * @param keys in the order of the list
 */
export function firstKey(
  keys: readonly string[],
  recordOf: (key: string) => ReadingRecord | undefined,
): string | undefined {
  const records = keys.flatMap(key => {
    const record = recordOf(key)
    return record
      ? [{ key, time: Date.parse(record.datetime), isNumber: typeof record.value === 'number' }]
      : []
  })
  const numbers = records.filter(({ isNumber }) => isNumber)
  const [first, ...others] = numbers.length > 0 ? numbers : records
  return others.reduce((last, each) => (last === undefined || each.time >= last.time ? each : last), first)
    ?.key
}
