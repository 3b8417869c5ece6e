import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { MqttLink } from '../../test/soak/mqtt-link.ts'
import { bodyOf, post } from '../limits/noisy.ts'

/** Through each door. */
const writesPerSecond = 250

/** How long each ack took, milliseconds, in the order of the acks. */
export type Acks = { readonly sentAt: number; readonly took: number }[]

export interface Load {
  readonly acks: Acks
  /** Sends no more; resolves when everything is acknowledged. @throws Error of a write that was not taken */
  stop(): Promise<void>
}

/** 500 writes a second, half of them over MQTT at QoS 1 and half over HTTP, sent when they are due whatever the acks do. */
export async function startLoad(server: ServerProcess, { thingId, thingToken }: Thing): Promise<Load> {
  const link = await MqttLink.open({ url: server.mqttUrl, clientId: 'load', password: thingToken })
  const agent = new Agent({ keepAlive: true })
  const acks: Acks = []
  let value = 0
  let isStopped = false
  const overMqtt = () => link.publish(`things/${thingId}/write`, bodyOf(value++), 1)
  const overHttp = async () => {
    const { status, reason } = await post(`${server.url}/v2/things/${thingToken}`, bodyOf(value++), agent)
    if (status !== 201) throw new Error(`a write was answered ${status} ${reason}`)
  }
  const sendSteadily = async (write: () => Promise<unknown>) => {
    const begin = performance.now()
    const writing: Promise<unknown>[] = []
    for (let count = 0; !isStopped; count++) {
      const sentAt = performance.now()
      writing.push(write().then(() => acks.push({ sentAt, took: performance.now() - sentAt })))
      const next = begin + ((count + 1) * 1_000) / writesPerSecond
      await delay(Math.max(0, next - performance.now()))
    }
    await Promise.all(writing)
  }
  const sending = Promise.all([sendSteadily(overMqtt), sendSteadily(overHttp)])
  // Told by `stop`.
  sending.catch(() => {})
  return {
    acks,
    async stop() {
      isStopped = true
      await sending
      agent.destroy()
      await link.disconnect()
    },
  }
}
