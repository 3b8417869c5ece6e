import { readOptions } from '../program.ts'
import { type Flood, fsyncDelay, measureFlood } from './flood.ts'
import { attackNames, measureAttack } from './packet-size.ts'

/**
 * `npm run bench:mqtt [-- --seconds 5 --connections 1 --only flood]`: what a connection that sends too much costs the
 * server in resident memory. Exits with 1 if a bound is missed. Linux, with strace.
 *
 * A flood is held against the same server under an ordinary load: between two collections of garbage its memory goes
 * up and down by some megabytes under any load, which is not the flood's doing.
 */

const { seconds, connections, only } = readOptions({ seconds: 5, connections: 1, only: '' })
const megabyte = 1_000_000
/** MB. */
const bounds = { flood: 10, attack: 5 }

const transports = ['TCP', 'WebSocket'] as const
const floods: readonly Flood[] = transports.flatMap(transport => [
  { transport, padding: 0, packetsPerSegment: 1, qos: 1 },
  { transport, padding: 0, packetsPerSegment: 500, qos: 1 },
  { transport, padding: 0, packetsPerSegment: 500, qos: 0 },
  { transport, padding: 20_000, packetsPerSegment: 1, qos: 1 },
  { transport, padding: 20_000, packetsPerSegment: 50, qos: 1 },
  { transport, padding: 1_000_000, packetsPerSegment: 1, qos: 1 },
])

let holds = true
if ('flood'.startsWith(only)) await benchFloods()
if ('attack'.startsWith(only)) await benchAttacks()
process.exit(holds ? 0 : 1)

async function benchFloods(): Promise<void> {
  const rows: object[] = []
  for (const flood of floods) {
    const { before, ordinaryPeak, peak, sent, acked } = await measureFlood(flood, seconds * 1_000)
    const { transport, qos, padding, packetsPerSegment } = flood
    rows.push({
      transport,
      qos,
      'padding, bytes': padding,
      'packets a segment': packetsPerSegment,
      sent,
      acked,
      'idle, MB': inMegabytes(before),
      'ordinary load, MB': inMegabytes(ordinaryPeak),
      'flood, MB': inMegabytes(peak),
      'cost, MB': inMegabytes(peak - ordinaryPeak),
      holds: judge(peak - ordinaryPeak, bounds.flood),
    })
  }
  console.log(`\nOne connection floods for ${seconds} s a store whose fsync takes ${fsyncDelay} ms;`)
  console.log(`the cost, flood less ordinary load, is to be under ${bounds.flood} MB:`)
  console.table(rows)
}

async function benchAttacks(): Promise<void> {
  const rows: object[] = []
  for (const name of attackNames) {
    const { before, peak, sent } = await measureAttack(name, connections)
    rows.push({
      'what is sent': name,
      'bytes sent, MB': inMegabytes(sent),
      'idle, MB': inMegabytes(before),
      'peak, MB': inMegabytes(peak),
      'cost, MB': inMegabytes(peak - before),
      holds: name.endsWith('one message') ? 'not judged' : judge(peak - before, bounds.attack),
    })
  }
  console.log(`\n${connections} connection(s), one after another, announce 256 MB and go on sending;`)
  console.log(
    `the cost is to be under ${bounds.attack} MB. A WebSocket message announces nothing before its last frame: it is`,
  )
  console.log('read as far as twice maxPacketSize.')
  console.table(rows)
}

function judge(cost: number, bound: number): boolean {
  const isWithin = cost < bound * megabyte
  holds &&= isWithin
  return isWithin
}

function inMegabytes(bytes: number): string {
  return (bytes / megabyte).toFixed(1)
}
