import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { createServer } from '../../src/server/index.ts'

/** A server on the embedded store with one thing. */
export interface Service {
  readonly url: string
  readonly mqttUrl: string
  readonly thingToken: string
  close(): Promise<void>
}

export async function openService(dataDir: string): Promise<Service> {
  const server = await createServer({ httpPort: 0, mqttPort: 0, dataDir, logLevel: 'silent' })
  const { url, mqttUrl, adminKey } = server
  const made = await fetch(`${url}/v2/admin/things`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey.key}` },
    body: '{"name":"walk"}',
  })
  const { thingToken } = (await made.json()) as { thingToken: string }
  return { url, mqttUrl, thingToken, close: () => server.close() }
}

export interface Walk {
  /** What has to happen before each request, and is none of it. */
  readonly before?: () => Promise<void>
  /** Resolves when the request is answered. */
  readonly request: () => Promise<void>
}

export type Flow = (service: Service) => Promise<Walk>

let written = 0

function body(): string {
  return JSON.stringify({ values: [{ key: 'temperature', value: ++written }] })
}

async function connected(
  { mqttUrl, thingToken }: Service,
  options: IClientOptions = {},
): Promise<MqttClient> {
  return await mqtt.connectAsync(mqttUrl, { username: thingToken, reconnectPeriod: 0, ...options })
}

async function post({ url, thingToken }: Service): Promise<void> {
  const { status } = await fetch(`${url}/v2/things/${thingToken}`, { method: 'POST', body: body() })
  if (status !== 201) throw new Error(`the write was answered with ${status}`)
}

/** By the name on the command line. */
export const flows: ReadonlyMap<string, Flow> = new Map<string, Flow>([
  [
    'publish',
    async service => {
      const client = await connected(service)
      const request = async () => {
        await client.publishAsync(`things/${service.thingToken}/write`, body(), { qos: 1 })
      }
      return { request }
    },
  ],
  ['post', async service => ({ request: () => post(service) })],
  [
    'live',
    async service => {
      const [writer, reader] = [await connected(service), await connected(service)]
      await reader.subscribeAsync(`things/${service.thingToken}/values/+`, { qos: 1 })
      const request = async () => {
        const seen = new Promise(resolve => reader.once('message', resolve))
        await writer.publishAsync(`things/${service.thingToken}/write`, body(), { qos: 1 })
        await seen
      }
      return { request }
    },
  ],
  [
    'connect',
    async service => {
      const session = { clean: false, clientId: 'walk' }
      const first = await connected(service, session)
      await first.subscribeAsync(`things/${service.thingToken}/values/+`, { qos: 1 })
      await first.endAsync()
      const before = async () => {
        await post(service)
        await post(service)
      }
      const request = async () => {
        const client = mqtt.connect(service.mqttUrl, {
          username: service.thingToken,
          reconnectPeriod: 0,
          ...session,
        })
        let missed = 2
        await new Promise<void>(resolve => client.on('message', () => --missed === 0 && resolve()))
        await client.endAsync()
      }
      return { before, request }
    },
  ],
  [
    'aggregate',
    async service => {
      await post(service)
      const { url, thingToken } = service
      const request = async () => {
        const query = 'aggregate=avg,min,max&interval=1h'
        const answer = await fetch(`${url}/v2/things/${thingToken}/resources/temperature?${query}`)
        await answer.json()
      }
      return { request }
    },
  ],
])
