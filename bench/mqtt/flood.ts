import { once } from 'node:events'
import { generate } from 'mqtt-packet'
import { Strace } from '../../test/fault/strace.ts'
import { connectMqtt, publishPacket } from '../../test/helpers/mqtt-client.ts'
import { idOf } from '../peers/peer.ts'
import { type Memory, withMeasuredServer } from './measured-server.ts'

export interface Flood {
  readonly transport: 'TCP' | 'WebSocket'
  /** Bytes of white space around the JSON of a write of one record. */
  readonly padding: number
  readonly packetsPerSegment: number
  readonly qos: 0 | 1
}

export interface FloodResult extends Memory {
  /** Highest resident memory under an ordinary load of writes of the same size, before; bytes. */
  readonly ordinaryPeak: number
  /** Packets handed to the client's socket. */
  readonly sent: number
  readonly acked: number
}

/** How long each fsync of the store takes, milliseconds. */
export const fsyncDelay = 200

/** What is made beforehand, so that the client is faster than the server: not more packets, nor bytes, than this. */
const prepared = { packets: 50_000, bytes: 64_000_000 }

/**
 * Sends writes as fast as the socket takes them, on one connection, while the store is slow.
 *
 * @param duration milliseconds
 */
export function measureFlood(
  { transport, padding, packetsPerSegment, qos }: Flood,
  duration: number,
): Promise<FloodResult> {
  return withMeasuredServer(async ({ server, thing, loadOrdinarily, measure }) => {
    const bodyOf = (value: number) =>
      Buffer.from(`{"values":[{"key":"n","value":${value}}]}${' '.repeat(padding)}`)
    // Once to compile what it needs, and once to see what it costs.
    await loadOrdinarily(bodyOf(0))
    const { peak: ordinaryPeak } = await measure(() => loadOrdinarily(bodyOf(0)))
    const topic = `things/${thing.thingToken}/write`
    const count = Math.min(prepared.packets, Math.floor(prepared.bytes / (padding + 100)))
    const packets = Array.from({ length: count }, (_, value) =>
      generate(publishPacket(topic, bodyOf(value), { qos, messageId: value + 1 })),
    )
    const segments: Buffer[] = []
    for (let next = 0; next < count; next += packetsPerSegment) {
      segments.push(Buffer.concat(packets.slice(next, next + packetsPerSegment)))
    }
    const url = transport === 'TCP' ? server.mqttUrl : server.webSocketUrl
    const client = await connectMqtt({ url, username: thing.thingToken })
    const slowness = ['-e', 'trace=fdatasync', '-e', `inject=fdatasync:delay_enter=${fsyncDelay * 1000}`]
    const strace = await Strace.attach(idOf(server), slowness)
    let sent = 0
    const memory = await measure(async () => {
      const end = performance.now() + duration
      for (let next = 0; performance.now() < end; next = (next + 1) % segments.length) {
        const segment = segments[next] ?? Buffer.alloc(0)
        const goesOn = client.stream.write(segment)
        sent += packetsPerSegment
        if (goesOn) await new Promise(resolve => setImmediate(resolve))
        else await drained(client.stream, end - performance.now())
      }
    })
    const acked = client.acknowledgements.length
    await client.destroy()
    await strace.detach()
    return { ...memory, ordinaryPeak, sent, acked }
  })
}

/** Resolves when the stream takes more, or the time is over. */
async function drained(stream: NodeJS.EventEmitter, time: number): Promise<void> {
  await once(stream, 'drain', { signal: AbortSignal.timeout(Math.max(1, Math.ceil(time))) }).catch(
    (error: unknown) => {
      if ((error as Error).name !== 'AbortError') throw error
    },
  )
}
