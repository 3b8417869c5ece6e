import { headKey } from '../keys.ts'
import type { Batch, Database } from './database.ts'

/** The counters of the store as of its newest commit. */
export interface Counters {
  readonly writeNumber: number
  /** Newest receipt time, milliseconds. */
  readonly newestReceipt: number
  readonly nextResource: number
}

/** A small entry that every commit rewrites: write number (6 bytes), newest receipt time (6), next resource number (4). */
export class Head {
  counters: Counters = { writeNumber: 0, newestReceipt: 0, nextResource: 1 }

  async load(database: Database): Promise<void> {
    const bytes = await database.level.get(headKey)
    if (!bytes) return
    this.counters = {
      writeNumber: bytes.readUIntBE(0, 6),
      newestReceipt: bytes.readUIntBE(6, 6),
      nextResource: bytes.readUInt32BE(12),
    }
  }

  put(batch: Batch, { writeNumber, newestReceipt, nextResource }: Counters): void {
    const bytes = Buffer.allocUnsafe(16)
    bytes.writeUIntBE(writeNumber, 0, 6)
    bytes.writeUIntBE(newestReceipt, 6, 6)
    bytes.writeUInt32BE(nextResource, 12)
    batch.put(headKey, bytes)
  }
}
