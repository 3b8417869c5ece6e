import { setTimeout as delay } from 'node:timers/promises'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Ledger } from './ledger.ts'
import type { Habits } from './planned-write.ts'
import { Timing } from './timing.ts'
import { Writer } from './writer.ts'

export interface LoadSetup {
  readonly nodes: readonly ServerProcess[]
  readonly ledger: Ledger
  readonly habits: (place: number) => Habits
  readonly records: number
  /** A second. */
  readonly rate: number
  readonly onProgress?: (sent: number) => void
}

export interface LoadResult {
  readonly records: number
  readonly writes: number
  readonly seconds: number
  /** When acks came. */
  readonly acks: Timing
  /** Answers that were no 201, and connections that were closed. */
  readonly refusals: readonly string[]
}

/** Milliseconds. */
const tick = 5
/** How much more than its share one thing may have written while others wait for their acks; and records on top. */
const unevenness = { factor: 1.5, records: 20 }

/**
 * Writes to all things at an even rate. Three things in ten use both doors of all nodes in turn, each write behind the ack of
 * the one before; the others one MQTT connection, at QoS 0, 1 and 2 mixed, without waiting. So the order of a thing's writes
 * is known.
 */
export async function runLoad(setup: LoadSetup): Promise<LoadResult> {
  const { ledger, records, rate, onProgress } = setup
  const run = { acks: new Timing(), refusals: [] as string[], writes: 0 }
  const writers = await Promise.all(ledger.things.map(thing => Writer.open({ ...setup, thing, run })))
  const start = performance.now()
  let sent = 0
  let turn = 0
  while (sent < records) {
    const due = Math.min(records, ((performance.now() - start) / 1_000) * rate)
    for (let busy = 0; sent < due && busy < writers.length; turn++) {
      const most = (sent / writers.length) * unevenness.factor + unevenness.records
      const count = writers[turn % writers.length]?.write(records - sent, most) ?? 0
      sent += count
      busy = count === 0 ? busy + 1 : 0
    }
    onProgress?.(sent)
    await delay(tick)
  }
  const seconds = (performance.now() - start) / 1_000
  for (const writer of writers) await writer.close()
  return { ...run, records: sent, seconds }
}
