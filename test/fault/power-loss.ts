import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AckOrder, checkAckOrder } from './ack-order.ts'
import { levelLogFile } from './level-log.ts'
import { runLoad } from './load.ts'
import { type DiskFaultSetup, withServer } from './served.ts'
import { Strace } from './strace.ts'
import { parseTrace, traceOptions } from './trace.ts'

const markers = /traced-[h12]-\d+-\d+-0/g

/** Traces the server under load, and compares every ack with the fdatasync that must come before it. */
export async function traceAcks(setup: DiskFaultSetup): Promise<AckOrder> {
  const { dataDir, writes } = setup
  return await withServer(setup, async ({ server, processId, load }) => {
    const output = join(dataDir, 'trace')
    const strace = await Strace.attach(processId, traceOptions(output))
    await runLoad({ ...load, run: 'traced', writes, sizes: 'one' })
    // A client has an ack as soon as the kernel does: before strace has seen the end of the write, which is then missing
    // in the trace. The thread that writes acks can only answer this once strace has let it go on.
    await fetch(`${server.url}/healthz`)
    await strace.detach()
    const path = await levelLogFile(dataDir)
    const calls = parseTrace(await readFile(output, 'latin1'))
    return checkAckOrder(calls, { path, bytes: await readFile(path) }, markers)
  })
}

/**
 * Delays every fsync by some milliseconds.
 *
 * @returns how long the ack of each write took, milliseconds
 */
export async function delayedSync(setup: DiskFaultSetup, milliseconds: number): Promise<number[]> {
  const { writes } = setup
  return await withServer(setup, async ({ processId, ledger, load }) => {
    // The first write of a thing waits for one fsync more: it marks the token as used.
    await runLoad({ ...load, run: 'first', writes: 2 })
    const inject = `inject=fdatasync,fsync:delay_enter=${milliseconds * 1000}`
    const strace = await Strace.attach(processId, ['-e', 'trace=fdatasync,fsync', '-e', inject])
    await runLoad({ ...load, run: 'delayed', writes })
    await strace.detach()
    return ledger.waits('delayed')
  })
}
