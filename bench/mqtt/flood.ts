import { setTimeout as delay } from 'node:timers/promises'
import { generate } from 'mqtt-packet'
import { Strace } from '../../test/fault/strace.ts'
import { connectMqtt, publishPacket } from '../../test/helpers/mqtt-client.ts'
import { idOf } from '../peers/peer.ts'
import { pour, withMeasuredServer } from './measured-server.ts'

export interface Flood {
  readonly transport: 'TCP' | 'WebSocket'
  /** Bytes of white space around the JSON of a write of one record. */
  readonly padding: number
  readonly packetsPerSegment: number
  readonly qos: 0 | 1
}

/** How long each fsync of the store takes, milliseconds. */
export const fsyncDelay = 200

/** What is made beforehand, so that the client is faster than the server: not more packets, nor bytes, than this. */
const prepared = { packets: 50_000, bytes: 64_000_000 }

/**
 * Sends writes as fast as the socket takes them, on one connection, while the store is slow.
 *
 * @param duration milliseconds
 * @returns packets sent and acked, and the memory that they cost beyond an ordinary load of writes of the same size, bytes
 */
export function measureFlood({ transport, padding, packetsPerSegment, qos }: Flood, duration: number) {
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
    const { peak } = await measure(async () => {
      sent = packetsPerSegment * (await pour(client.stream, segments, delay(duration)))
    })
    const acked = client.acknowledgements.length
    await client.destroy()
    await strace.detach()
    return { sent, acked, cost: peak - ordinaryPeak }
  })
}
