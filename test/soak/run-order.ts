import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createProgress } from '../../bench/program.ts'
import { SoakReport } from './report.ts'
import { watchMemory } from './server-memory.ts'
import { startServers } from './servers.ts'
import { runSoak } from './soak.ts'

export interface OrderOptions {
  readonly things: number
  readonly records: number
  /** Records a second. */
  readonly rate: number
  /** Characters. */
  readonly padding: number
  /** On one Redis; 0 for one server with its embedded store. */
  readonly nodes: number
}

/**
 * Order and loss of live messages, with subscribers of every kind at once, at one server or at each of several.
 *
 * @returns whether every promise was kept
 */
export async function soakOrder({
  things,
  records,
  rate,
  padding,
  nodes: count,
}: OrderOptions): Promise<boolean> {
  const place = count > 0 ? `${count} nodes on one Redis` : 'one server'
  console.log(`${things} things, ${records} records at ${rate} records/s, ${place}`)
  // So slow that less waits for it in the end than the bound of 8 MiB, by the size of a message as measured; bytes.
  const bytesPerRecord = 96 + 0.146 * padding
  const mayWait = 5_500_000
  const pace = rate * bytesPerRecord - mayWait / (records / rate)
  const servers = await startServers(count)
  const memories = servers.nodes.map(node => watchMemory(Number(node.process.pid)))
  const clientDelay = monitorEventLoopDelay({ resolution: 10 })
  clientDelay.enable()
  const result = await runSoak({
    nodes: servers.nodes,
    things,
    records,
    rate,
    padding,
    awayFor: 600,
    patience: 15_000,
    hasStuck: true,
    slowPace: { all: Math.max(170_000, Math.round(pace)), some: 20_000 },
    onProgress: createProgress(records, done => `records written: ${done} of ${records}`),
  }).finally(async () => {
    clientDelay.disable()
    await Promise.all(servers.nodes.map(node => node.stop()))
    await servers.end()
  })

  const report = new SoakReport()
  report.load(result.load, rate)
  report.live(result.live)
  report.slow(result.slow)
  report.sessions(result.sessions)
  report.joining(result.joining)
  report.stuck(result.stuck)
  report.retained(result.retained)
  for (const [index, node] of servers.nodes.entries()) {
    const memory = memories[index]?.stop()
    if (memory) report.server(await node.exited, memory)
  }
  const { user, system } = process.cpuUsage()
  console.log(
    `this process: ${((user + system) / 1e6).toFixed(0)} s of processor time; ` +
      `event-loop delay p99 ${ms(clientDelay.percentile(99))} ms, max ${ms(clientDelay.max)} ms`,
  )
  return report.broken === 0
}

function ms(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(0)
}
