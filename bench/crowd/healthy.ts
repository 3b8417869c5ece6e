import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { MqttLink } from '../../test/soak/mqtt-link.ts'

/** Writes a second of each client, one at a time. */
const rate = 25

export type Door = 'MQTT' | 'WebSocket' | 'HTTP'

/** Milliseconds from sending a write to its ack, sorted. */
export type AckTimes = Readonly<Record<Door, readonly number[]>>

/** A client on each door that writes all the while. */
export class Healthy {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #times: Record<Door, number[]> = { MQTT: [], WebSocket: [], HTTP: [] }
  readonly #running: Promise<void>[] = []
  #isStopped = false

  static async start(server: ServerProcess, thing: Thing): Promise<Healthy> {
    const healthy = new Healthy()
    const password = thing.thingToken
    const open = (url: string) => MqttLink.open({ url, clientId: `healthy-${url}`, password })
    const mqtt = await open(server.mqttUrl)
    const webSocket = await open(server.webSocketUrl)
    const topic = `things/${thing.thingId}/write`
    healthy.#run('MQTT', body => mqtt.publish(topic, body, 1))
    healthy.#run('WebSocket', body => webSocket.publish(topic, body, 1))
    healthy.#run('HTTP', body => healthy.#post(`${server.url}/v2/things/${thing.thingToken}`, body))
    return healthy
  }

  /** What was seen since the last call. @throws Error if a write was not acked */
  async take(): Promise<AckTimes> {
    await Promise.race([Promise.all(this.#running), delay(0)])
    const sorted = (door: Door) => this.#times[door].splice(0).sort((a, b) => a - b)
    return { MQTT: sorted('MQTT'), WebSocket: sorted('WebSocket'), HTTP: sorted('HTTP') }
  }

  /** @throws Error if a write was not acked */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
    this.#agent.destroy()
  }

  #run(door: Door, write: (body: string) => Promise<void>): void {
    const run = async () => {
      const begin = performance.now()
      for (let n = 0; !this.#isStopped; n++) {
        await delay(Math.max(0, begin + (n * 1_000) / rate - performance.now()))
        const sent = performance.now()
        await write(`{"values":[{"key":"healthy","value":${n}}]}`)
        this.#times[door].push(performance.now() - sent)
      }
    }
    const running = run()
    // Thrown where it is waited for.
    running.catch(() => {})
    this.#running.push(running)
  }

  #post(url: string, body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const asking = request(url, { method: 'POST', agent: this.#agent }, response => {
        response.resume()
        if (response.statusCode === 201) response.once('end', resolve)
        else reject(new Error(`a healthy client was answered ${response.statusCode}`))
      })
      asking.once('error', reject)
      asking.end(body)
    })
  }
}
