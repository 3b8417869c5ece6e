import { setTimeout as delay } from 'node:timers/promises'
import type { Violations } from './ledger.ts'
import { runLoad } from './load.ts'
import { type DiskFaultSetup, resumeAll, withServer } from './served.ts'
import { storedValues } from './stored-values.ts'
import { Strace } from './strace.ts'

export interface Cuts {
  /** Connections that were cut with unacked writes on them. */
  readonly cuts: number
  readonly violations: Violations
}

/**
 * Cuts the connections of devices again and again, each of which comes back at once while its last writes are still
 * being committed, since every fsync is held back by some milliseconds.
 */
export async function cutConnections(setup: DiskFaultSetup, milliseconds: number): Promise<Cuts> {
  return await withServer(setup, async ({ server, processId, things, devices, ledger, load }) => {
    const inject = `inject=fdatasync,fsync:delay_enter=${milliseconds * 1000}`
    const strace = await Strace.attach(processId, ['-e', 'trace=fdatasync,fsync', '-e', inject])
    let isOver = false
    const loaded = runLoad({ ...load, run: 'cut', writes: setup.writes, onConnack: () => {} }).finally(() => {
      isOver = true
    })
    let cuts = 0
    while (!isOver) {
      await delay(Math.random() * 3 * milliseconds)
      const device = devices[cuts % devices.length]
      if (device?.isConnected) cuts++
      await device?.destroy()
    }
    await loaded
    await strace.detach()
    await resumeAll(devices, server)
    return { cuts, violations: ledger.check(await storedValues(server, things)) }
  })
}
