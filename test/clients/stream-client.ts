import { type Packet, parser, writeToStream } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import websocket from 'websocket-stream'
import { PacketQueue } from '../helpers/packet-queue.ts'

/** How long a packet is waited for, milliseconds. */
const deadline = 20_000

export interface StreamClient {
  send(packet: Packet): void
  /** Resolves with the next packet that was not taken yet. */
  next(): Promise<Packet>
  /** Breaks the connection. */
  destroy(): void
  /** Resolves when the connection is gone, whoever ended it. */
  readonly closed: Promise<void>
}

/** Subprotocols as the dashboards of their days asked for them. */
export type Subprotocol = 'mqtt' | 'mqttv3.1'

/**
 * MQTT on a websocket-stream as mqtt-connection and the first versions of mqtt.js made it: options with `binary`, and
 * packets written to the stream piece by piece, each piece a WebSocket message of its own.
 */
export function openStreamClient(url: string, subprotocol: Subprotocol): StreamClient {
  const stream = websocket(url, [subprotocol], { binary: true, perMessageDeflate: false } as object)
  onTestFinished(() => void stream.destroy())
  const queue = new PacketQueue(deadline)
  const incoming = parser()
  incoming.on('packet', packet => queue.add(packet))
  stream.on('data', (bytes: Buffer) => incoming.parse(bytes))
  const closed = new Promise<void>(resolve => {
    const end = (error = new Error('the stream is closed')) => {
      queue.end(error)
      resolve()
    }
    stream.on('close', () => end())
    stream.on('error', end)
  })
  return {
    send: packet => void writeToStream(packet, stream),
    next: () => queue.next(() => true),
    destroy: () => void stream.destroy(),
    closed,
  }
}
