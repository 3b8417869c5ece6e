import type { Duplex } from 'node:stream'
import { type Packet, writeToStream } from 'mqtt-packet'
import { onTestFinished } from 'vitest'
import websocket from 'websocket-stream'
import { type MqttAddress, MqttClient } from '../helpers/mqtt-client.ts'
import { Inbox, type LiveClient } from './client.ts'

/** Subprotocols as the dashboards of their days asked for them. */
export type Subprotocol = 'mqtt' | 'mqttv3.1'

/** Its packets are written to the stream piece by piece, each piece a WebSocket message of its own. */
export class StreamClient extends MqttClient {
  override send(...packets: readonly Packet[]): void {
    for (const packet of packets) writeToStream(packet, this.stream)
  }
}

/** MQTT on a websocket-stream as mqtt-connection and the first versions of mqtt.js made it: options with `binary`. */
export function openStreamClient(
  url: string,
  subprotocol: Subprotocol,
  options: Pick<MqttAddress, 'onMessage'> = {},
): StreamClient {
  const stream = websocket(url, [subprotocol], { binary: true, perMessageDeflate: false } as object)
  onTestFinished(() => void stream.destroy())
  const protocolVersion = subprotocol === 'mqttv3.1' ? 3 : 4
  return new StreamClient(stream as Duplex, { url, protocolVersion, acknowledges: false, ...options })
}

/** A dashboard that acknowledges what it receives. It has no will, and its payloads are texts. */
export function streamDashboard(subprotocol: Subprotocol): LiveClient {
  return {
    name: `websocket-stream with the subprotocol ${subprotocol}`,
    subscribe: async (server, { filters, qos, username = 'dashboard', password, clientId }) => {
      const inbox = new Inbox()
      const client = openStreamClient(server.webSocketUrl, subprotocol, {
        onMessage: ({ topic, payload, qos, retain, messageId }) => {
          if (qos === 1 && messageId !== undefined) client.send({ cmd: 'puback', messageId })
          inbox.add({ topic, payload: payload.toString(), qos, retain })
        },
      })
      void client.closed.then(() => inbox.end(new Error('the stream is closed')))
      const connected = client.connect({
        clientId: clientId ?? 'dashboard',
        clean: clientId === undefined,
        ...(username === 'dashboard' && password === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
      })
      const [granted] = await Promise.all([client.subscribeAll(filters, qos), connected])
      const leave = async () => {
        client.abandon()
        await client.takeLeave()
      }
      return { inbox, granted, leave, kill: () => client.destroy() }
    },
  }
}
