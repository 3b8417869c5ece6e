import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { readOptions } from '../program.ts'
import { type Flood, fsyncDelay, measureFlood } from './flood.ts'
import { attacks, measureAttack } from './packet-size.ts'

/**
 * `npm run bench:mqtt [-- --seconds 5 --only flood]`: what a connection that sends too much costs the
 * server in resident memory. Exits with 1 if a bound is missed. Linux, with strace.
 *
 * A flood is held against the same server under an ordinary load: between two collections of garbage its memory goes
 * up and down by some megabytes under any load, which is not the flood's doing.
 */

const { seconds, only } = readOptions({ seconds: 5, only: '' })
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

const judged = new JudgedLines()
if ('flood'.startsWith(only)) await benchFloods()
if ('attack'.startsWith(only)) await benchAttacks()
process.exit(judged.broken === 0 ? 0 : 1)

async function benchFloods(): Promise<void> {
  console.log(`\nOne connection floods for ${seconds} s a store whose fsync takes ${fsyncDelay} ms;`)
  console.log(`the cost, flood less ordinary load, is to be under ${bounds.flood} MB:`)
  for (const flood of floods) {
    const { sent, acked, cost } = await measureFlood(flood, seconds * 1_000)
    const { transport, qos, padding, packetsPerSegment } = flood
    judge(
      `${transport}, QoS ${qos}, ${padding} bytes of padding, ${packetsPerSegment} packets a segment, ${sent} sent, ${acked} acked`,
      cost,
      bounds.flood,
    )
  }
}

async function benchAttacks(): Promise<void> {
  console.log(
    `\nA connection announces 256 MB and goes on sending; the cost is to be under ${bounds.attack} MB:`,
  )
  for (const [name, attack] of Object.entries(attacks)) {
    const { sent, cost } = await measureAttack(attack)
    judge(`${name}, ${(sent / megabyte).toFixed(1)} MB sent`, cost, bounds.attack)
  }
}

function judge(what: string, cost: number, bound: number): void {
  const megabytes = cost / megabyte
  judged.line(megabytes < bound, `${what}: ${megabytes.toFixed(1)} MB`)
}
