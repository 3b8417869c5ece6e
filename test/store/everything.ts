import { measuredAt, otherThing, thing, write } from '../../src/conformance/writes.ts'
import type { NewRecord, StoredRecord } from '../../src/core/record/record.ts'
import type { Store } from '../../src/store/contract.ts'
import { withShownTime } from '../helpers/shown-time.ts'

const hour = 3_600_000
const day = 24 * hour
/** How many records of one datetime are put: more than are compared one by one, and than are moved at once. */
export const crowdSize = 1_300
/** Of the second thing's long resource. */
export const manyRecords = 5_000

export const knownIds = ['first', 'second', 'of a partial write']
export const forgottenId = 'of the day before'

const answerOfPartial = {
  rejected: [{ index: 1, field: 'value', reason: 'invalid_value', message: 'no' }],
} as const

/** The datetimes of a crowd are alike, and so is its order: by write number, then by place. */
export function crowdRecord(place: number): Omit<NewRecord, 'place'> {
  // Objects, short values and long ones are told apart in three ways.
  const value = [{ of: place, is: 'object' }, place, `of ${place}: ${'long '.repeat(10)}`][place % 3]
  return { key: 'crowd', datetime: measuredAt, value: JSON.stringify(value), explicit: true }
}

const oddValues: readonly Partial<StoredRecord>[] = [
  { value: '21.50' },
  { value: '"ü, 漢字 and \\ud800 alone"' },
  { value: '{"b":1,"a":{"c":[1,2,null]}}' },
  { value: '[]' },
  { value: 'null', geo: { lat: 41.41, long: 2.22 } },
  { value: 'true', geo: { lat: 41.123456789012, long: -179.99999999999997 } },
  { value: '""', geo: { lat: -90, long: 180 } },
  { value: '-1e-7' },
]

/** Makes an embedded store hold something of all that a store can hold. */
export async function fill(store: Store): Promise<void> {
  await withShownTime(measuredAt - 2 * day, show => fillAs(store, show))
}

/** @param show what the clock shows from now on */
async function fillAs({ records, documents, refused }: Store, show: (time: number) => void): Promise<void> {
  records.logWhen(({ broadcast }) => broadcast)
  const at = (datetime: number, value: unknown, more: Partial<NewRecord> = {}) => {
    return { key: 'temperature', datetime, value: JSON.stringify(value), explicit: true, ...more }
  }
  const append = (newRecords: readonly Omit<NewRecord, 'place'>[], more: Parameters<typeof write>[1] = {}) =>
    records.append(write(newRecords, more))

  await append([at(measuredAt - 2 * day, 'old')], { id: forgottenId })
  show(measuredAt)
  await append([at(measuredAt, 'newest'), at(measuredAt - hour, 'earlier')], { id: 'first' })
  await append([at(measuredAt - hour, 'same datetime'), at(measuredAt - hour, 'and again')])
  await append([at(measuredAt - 30 * day, 'late', { datetimeText: '20261022093000' })], { id: 'second' })
  await append([at(measuredAt - hour, 'same datetime, later write')], {
    id: 'of a partial write',
    answer: answerOfPartial,
  })
  await append(oddValues.map((odd, index) => ({ ...at(measuredAt + index, 0), key: 'odd', ...odd })))
  for (let place = 0; place < crowdSize; place += 100) {
    const hundred = Array.from({ length: 100 }, (_, index) => crowdRecord(place + index))
    await append(hundred, { broadcast: false })
  }
  for (let from = 0; from < manyRecords; from += 1_000) {
    const thousand = Array.from({ length: 1_000 }, (_, index) => ({
      ...at(measuredAt + (from + index) * 1_000, from + index, { geo: { lat: 41 + index / 1e5, long: 2 } }),
      key: 'long',
    }))
    await append(thousand, { thingId: otherThing, broadcast: false })
  }

  const magic = { ...at(measuredAt, 'Boat'), key: '$settings.name' }
  const settings = { key: '$settings', datetime: measuredAt, value: '{"name":"Boat"}' }
  const geo = { key: '$geo', datetime: measuredAt, value: '{"type":"Point","coordinates":[2,41]}' }
  await append([magic], { thingId: otherThing })
  await append([], {
    thingId: otherThing,
    states: [settings, geo].map(record => ({ key: record.key, record })),
  })
  await append([{ ...at(measuredAt, 1), key: 'gone' }])
  await append([{ ...at(measuredAt, 1), key: 'back' }])
  await records.remove(thing, 'gone', {})
  await records.remove(thing, 'back', {})
  show(measuredAt + hour)
  await append([{ ...at(measuredAt, 2), key: 'back' }])
  await append([{ ...at(measuredAt, 2), key: 'back', datetime: Number.NaN, explicit: false }])
  await append([{ ...at(measuredAt, 3), key: 'told alone' }], { store: false })

  for (let index = 0; index < 103; index++) {
    const excerpt = `no. ${index}`
    await refused.add(thing, {
      datetime: index,
      door: 'http',
      reason: 'invalid_json',
      message: 'no',
      excerpt,
    })
  }
  await documents.put(
    {
      [`things/${thing}`]: { name: 'Boat', createdAt: 1 },
      'tokens/0123': { thingId: thing },
      'sessions/4567': { things: '*', access: 'read' },
      'activation-codes/abc': { uses: 3 },
      'mqtt-in-flight/thing%3Aa/7': { write: 281_474_976_710_655 },
      'mqtt-wills/8': { thingId: thing, body: 'e30=' },
    },
    'keep',
  )
}
