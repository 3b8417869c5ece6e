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

/** A record of the load in its place of the commit order. */
export interface Stored extends Position {
  readonly value: string
}

/** What a thing was written, in commit order. */
export interface CommitOrder {
  /** Values of the records. */
  readonly values: readonly string[]
  /** First value of each write. */
  readonly writes: readonly string[]
}

/** By thing id; of a data directory that no server holds, in which all values are texts. */
export async function commitOrders(dataDir: string): Promise<ReadonlyMap<string, CommitOrder>> {
  const level = new ClassicLevel<Buffer, Buffer>(storeLocation(dataDir), {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  })
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
  await level.close()
  return new Map([...stored].map(([thingId, records]) => [thingId, orderOf(records)]))
}

export function orderOf(records: readonly Stored[]): CommitOrder {
  const sorted = [...records].sort((a, b) => a.writeNumber - b.writeNumber || a.place - b.place)
  const isFirst = ({ writeNumber }: Stored, index: number) => sorted[index - 1]?.writeNumber !== writeNumber
  return {
    values: sorted.map(({ value }) => value),
    writes: sorted.filter(isFirst).map(({ value }) => value),
  }
}
