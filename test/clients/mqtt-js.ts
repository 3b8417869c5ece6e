import { connect, connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { ServerProcess } from '../helpers/server-process.ts'
import { Inbox, type LiveClient, type Publish, sessionExpiry, type Version } from './client.ts'

export type Transport = 'TCP' | 'WebSocket'
export type MqttJsClient = Awaited<ReturnType<typeof connectMqttJs>>

/** A client that is gone at the end of the test. @throws Error of a refusal, with its return code as `code` */
export async function connectMqttJs(
  server: ServerProcess,
  transport: Transport,
  options: IClientOptions = {},
  encoding: 'utf8' | 'hex' = 'utf8',
) {
  const url = transport === 'TCP' ? server.mqttUrl : server.webSocketUrl
  const client = connect(url, { reconnectPeriod: 50, ...options })
  onTestFinished(() => client.endAsync(true))
  // Everything that it was sent, that which came right behind CONNACK too.
  const inbox = new Inbox()
  client.on('message', (topic, payload, { qos, retain }) => {
    inbox.add({ topic, payload: payload.toString(encoding), qos, retain })
  })
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve()).once('error', reject)
  })
  return { client, inbox }
}

/** What begins a session that is kept when its connection ends. */
export function persistent(clientId: string, version: Version): IClientOptions {
  const properties = version === 5 && { properties: { sessionExpiryInterval: sessionExpiry } }
  return { protocolVersion: version, clientId, clean: false, ...properties }
}

export function mqttJs(transport: Transport, version: Version = 4): LiveClient {
  return {
    name: `mqtt.js over ${transport}${version === 5 ? ' in version 5' : ''}`,
    subscribe: async (server, subscribing) => {
      const { filters, qos, username = 'dashboard', password, clientId, clean = false } = subscribing
      const { will, encoding } = subscribing
      const options: IClientOptions = {
        protocolVersion: version,
        // MQTT knows no password without a username.
        ...(username === 'dashboard' && password === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
        ...(clientId === undefined ? {} : clean ? { clientId } : persistent(clientId, version)),
        ...(will && { will: { retain: false, ...will, payload: Buffer.from(will.payload) } }),
      }
      const { client, inbox } = await connectMqttJs(server, transport, options, encoding)
      const granted = await grantedTo(client, filters, qos)
      return { inbox, granted, leave: () => client.endAsync(), kill: () => client.endAsync(true) }
    },
  }
}

/** A refused filter is an error to mqtt.js, whatever the others are. */
function grantedTo(client: MqttClient, filters: readonly string[], qos: 0 | 1 | 2): Promise<number[]> {
  return new Promise((resolve, reject) => {
    client.subscribe([...filters], { qos }, (error, _granted, suback) => {
      if (suback) resolve(suback.granted as number[])
      else reject(error)
    })
  })
}

/** On one connection, all of them in flight at once. */
export const publishByMqttJs: Publish = async ({ mqttUrl }, token, messages, version = 4) => {
  const options = { protocolVersion: version, username: token, reconnectPeriod: 0 }
  const client = await connectAsync(mqttUrl, options)
  const lost = new Promise<never>((_, reject) => {
    client.once('close', () => reject(new Error('mqtt.js lost the connection')))
  })
  const published = messages.map(({ topic, payload, qos, retain = false }) =>
    client.publishAsync(topic, payload, { qos, retain }),
  )
  await Promise.race([lost, Promise.all(published)])
  await client.endAsync()
}
