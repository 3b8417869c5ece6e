import type { Packet } from 'mqtt-packet'
import { Inbox } from './inbox.ts'
import type { LiveClient } from './live-client.ts'
import { openStreamClient, type StreamClient, type Subprotocol } from './stream-client.ts'

/** A dashboard on websocket-stream that acknowledges what it receives. */
export function streamDashboard(subprotocol: Subprotocol): LiveClient {
  return {
    name: `websocket-stream with the subprotocol ${subprotocol}`,
    subscribe: async (server, { filters, qos, username = 'dashboard', password, clientId }) => {
      const client = openStreamClient(server.webSocketUrl, subprotocol)
      const isOld = subprotocol === 'mqttv3.1'
      client.send({
        cmd: 'connect',
        protocolId: isOld ? 'MQIsdp' : 'MQTT',
        protocolVersion: isOld ? 3 : 4,
        clientId: clientId ?? 'dashboard',
        clean: clientId === undefined,
        keepalive: 0,
        ...(username === 'dashboard' && password === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password: Buffer.from(password) }),
      })
      const inbox = new Inbox()
      let hasLeft = false
      const subscribed = new Promise<void>((resolve, reject) => {
        const onPacket = (packet: Packet) => {
          if (packet.cmd === 'suback') resolve()
          if (!hasLeft) receive(client, packet, inbox)
        }
        // Whoever waits for a message gets the error.
        readOn(client, onPacket).catch(error => {
          reject(error)
          inbox.end(error)
        })
      })
      const subscriptions = filters.map(topic => ({ topic, qos }))
      client.send({ cmd: 'subscribe', messageId: 1, subscriptions })
      await subscribed
      return {
        inbox,
        leave: async () => {
          hasLeft = true
          client.send({ cmd: 'disconnect' })
          await client.closed
        },
      }
    },
  }
}

async function readOn(client: StreamClient, onPacket: (packet: Packet) => void): Promise<never> {
  for (;;) onPacket(await client.next())
}

function receive(client: StreamClient, packet: Packet, inbox: Inbox): void {
  if (packet.cmd !== 'publish') return
  const { topic, payload, qos, retain, messageId } = packet
  if (qos === 1 && messageId !== undefined) client.send({ cmd: 'puback', messageId })
  inbox.add({ topic, payload: payload.toString(), qos, retain })
}
