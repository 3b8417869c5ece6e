import { type StoredRecord, storedForm } from '../../core/record/record.ts'
import type { Append, Latest } from '../contract.ts'
import { decodeRecord, encodeRecord } from '../record-value.ts'
import type { Batch } from './database/database.ts'
import { resourceByKeyKey, stateKey } from './keys.ts'

/** The value of a state key is the datetime (6 bytes), then kind, geo and value as in a single record (../record-value.ts). */
const datetimeLength = 6
const nothing = Buffer.alloc(0)

/** Puts the states of a write into the batch if the write is stored. @returns the states to deliver */
export function stageStates(batch: Batch, { thingId, store }: Append, states: readonly Latest[]): Latest[] {
  const delivered = states.map(({ key, record }) => ({ key, record: record && storedForm(record) }))
  if (!store) return delivered
  for (const { key, record } of delivered) {
    const [state, byKey] = keysOfState(thingId, key)
    if (record) batch.put(state, encodeState(record)).put(byKey, nothing)
    else batch.del(state).del(byKey)
  }
  return delivered
}

/** Every key that `stageStates` puts or deletes. */
export function keysOfStates(thingId: string, states: readonly Latest[]): Buffer[] {
  return states.flatMap(({ key }) => keysOfState(thingId, key))
}

export function decodeState(key: string, bytes: Buffer): StoredRecord {
  return decodeRecord(key, bytes.readUIntBE(0, datetimeLength), bytes.subarray(datetimeLength))
}

function encodeState(state: StoredRecord): Buffer {
  const datetime = Buffer.allocUnsafe(datetimeLength)
  datetime.writeUIntBE(state.datetime, 0, datetimeLength)
  return Buffer.concat([datetime, encodeRecord(state)])
}

function keysOfState(thingId: string, key: string): [state: Buffer, byKey: Buffer] {
  return [stateKey(thingId, key), resourceByKeyKey(key, thingId)]
}
