import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { ServerProcess } from '../helpers/server-process.ts'
import { Inbox } from './inbox.ts'
import type { LiveClient } from './live-client.ts'

export type Transport = 'TCP' | 'WebSocket'

export interface MqttJsClient {
  readonly client: MqttClient
  /** Everything that it was sent, that which came right behind CONNACK too. */
  readonly inbox: Inbox
}

/**
 * A client that is gone at the end of the test, however the test ended.
 *
 * @throws Error of a refusal, with its return code as `code`
 */
export async function connectMqttJs(
  server: ServerProcess,
  transport: Transport,
  options: IClientOptions = {},
): Promise<MqttJsClient> {
  const url = transport === 'TCP' ? server.mqttUrl : server.webSocketUrl
  const client = connect(url, { reconnectPeriod: 50, ...options })
  onTestFinished(() => client.endAsync(true))
  const inbox = new Inbox()
  client.on('message', (topic, payload, { qos, retain }) => {
    inbox.add({ topic, payload: payload.toString(), qos, retain })
  })
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve()).once('error', reject)
  })
  return { client, inbox }
}

export function mqttJs(transport: Transport): LiveClient {
  return {
    name: `mqtt.js over ${transport}`,
    subscribe: async (server, { filters, qos, username = 'dashboard', password, clientId }) => {
      const { client, inbox } = await connectMqttJs(server, transport, {
        // MQTT knows no password without a username.
        ...(username === 'dashboard' && password === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
        ...(clientId === undefined ? {} : { clientId, clean: false }),
      })
      await client.subscribeAsync([...filters], { qos })
      return { inbox, leave: () => client.endAsync() }
    },
  }
}
