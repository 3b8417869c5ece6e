import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../helpers/waiting.ts'
import { Rounds } from '../rig/rounds.ts'
import type { Service } from '../rig/server.ts'
import type { Writers } from '../rig/writers.ts'
import { type Way, wayOf, wayPattern, ways } from '../rig/writes.ts'
import { type AckOrder, checkAckOrder } from './ack-order.ts'
import { levelLogFile } from './level-log.ts'
import { injectIntoSyncs, Strace } from './strace.ts'
import { parseTrace, traceOptions } from './trace.ts'

export interface PowerLossSetup {
  /** Empty or missing. */
  readonly dataDir: string
  /** Acked writes of each way, at least. */
  readonly writes: number
  /** Options of the server's command line. */
  readonly args?: readonly string[]
}

const markers = new RegExp(`n1-${wayPattern}-\\d+-\\d+-0`, 'g')

export interface TracedAcks extends AckOrder {
  /** How many writes of each way were acked. */
  readonly acks: Readonly<Record<Way, number>>
}

/** Traces the server under load, and compares every ack with the fdatasync that must come before it. */
export function traceAcks(setup: PowerLossSetup): Promise<TracedAcks> {
  return underWatch(setup, async (service, writers) => {
    const { server } = service.member(0)
    const output = join(setup.dataDir, 'trace')
    const strace = await Strace.attach(Number(server.process.pid), traceOptions(output))
    // From CONNECT on.
    await writers.begin(1)
    writers.start()
    await untilAcked(writers, setup.writes)
    await writers.stop()
    // A client has an ack as soon as the kernel does: before strace has seen the end of the write, which is then missing
    // in the trace. The thread that writes acks can only answer this once strace has let it go on.
    await fetch(`${server.url}/healthz`)
    await strace.detach()
    const path = await levelLogFile(setup.dataDir)
    const calls = parseTrace(await readFile(output, 'latin1'))
    const traced = writers.ledger.acked.filter(({ name }) => name.startsWith('n1-'))
    const ofWay = (way: Way) => traced.filter(({ name }) => wayOf(name) === way).length
    const acks = Object.fromEntries(ways.map(way => [way, ofWay(way)])) as TracedAcks['acks']
    return { ...checkAckOrder(calls, { path, bytes: await readFile(path) }, markers), acks }
  })
}

/**
 * Delays every fsync by some milliseconds.
 *
 * @returns how long the ack of each write took, milliseconds
 */
export function delayedSync(setup: PowerLossSetup, milliseconds: number): Promise<number[]> {
  return underWatch(setup, async (service, writers) => {
    const strace = await injectIntoSyncs(service.node(0), `delay_enter=${milliseconds * 1000}`)
    const before = writers.ledger.acked.length
    writers.start()
    await untilAcked(writers, setup.writes)
    await writers.stop()
    await strace.detach()
    return writers.ledger.acked.slice(before).map(({ sentAt, at }) => at - sentAt)
  })
}

/** With things that were written to: the first write of one waits for an fsync more, since it marks the token as used. */
async function underWatch<T>(
  { dataDir, args = [] }: PowerLossSetup,
  task: (service: Service, writers: Writers) => Promise<T>,
): Promise<T> {
  const rounds = await Rounds.start({ dataDir, args, cast: ['heavy'], heavy: { sizes: 'one' } })
  try {
    const [writers] = rounds.writers
    if (!writers) throw new Error('there are no writers')
    await writers.begin(0)
    await writers.mark()
    return await task(rounds.service, writers)
  } finally {
    await rounds.end()
  }
}

async function untilAcked({ ledger }: Writers, writes: number): Promise<void> {
  const isEnough = () => ways.every(way => ledger.acks(way) >= writes)
  if (!(await eventually(isEnough, 600_000))) throw new Error('the load takes too long')
}
