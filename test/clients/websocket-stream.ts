import { type Packet, parser, writeToStream } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import websocket from 'websocket-stream'
import { PacketQueue } from '../helpers/packet-queue.ts'
import { Inbox, type LiveClient } from './client.ts'

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

/** What CONNECT says of a protocol version. */
export function versionOf(subprotocol: Subprotocol) {
  return subprotocol === 'mqttv3.1'
    ? ({ protocolId: 'MQIsdp', protocolVersion: 3 } as const)
    : ({ protocolId: 'MQTT', protocolVersion: 4 } as const)
}

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

/** A dashboard that acknowledges what it receives. It has no will, and its payloads are texts. */
export function streamDashboard(subprotocol: Subprotocol): LiveClient {
  return {
    name: `websocket-stream with the subprotocol ${subprotocol}`,
    subscribe: async (server, { filters, qos, username = 'dashboard', password, clientId }) => {
      const client = openStreamClient(server.webSocketUrl, subprotocol)
      client.send({
        cmd: 'connect',
        ...versionOf(subprotocol),
        clientId: clientId ?? 'dashboard',
        clean: clientId === undefined,
        keepalive: 0,
        ...(username === 'dashboard' && password === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password: Buffer.from(password) }),
      })
      const inbox = new Inbox()
      let hasLeft = false
      const subscribed = new Promise<readonly number[]>((resolve, reject) => {
        const readOn = async () => {
          for (;;) {
            const packet = await client.next()
            if (packet.cmd === 'suback') resolve(packet.granted as number[])
            if (!hasLeft) receive(client, packet, inbox)
          }
        }
        // Whoever waits for a message gets the error.
        readOn().catch(error => {
          reject(error)
          inbox.end(error)
        })
      })
      client.send({ cmd: 'subscribe', messageId: 1, subscriptions: filters.map(topic => ({ topic, qos })) })
      const granted = await subscribed
      const leaveBy = async (end: () => void) => {
        hasLeft = true
        end()
        await client.closed
      }
      return {
        inbox,
        granted,
        leave: () => leaveBy(() => client.send({ cmd: 'disconnect' })),
        kill: () => leaveBy(() => client.destroy()),
      }
    },
  }
}

function receive(client: StreamClient, packet: Packet, inbox: Inbox): void {
  if (packet.cmd !== 'publish') return
  const { topic, payload, qos, retain, messageId } = packet
  if (qos === 1 && messageId !== undefined) client.send({ cmd: 'puback', messageId })
  inbox.add({ topic, payload: payload.toString(), qos, retain })
}
