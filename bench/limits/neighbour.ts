import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { MqttLink } from '../../test/soak/mqtt-link.ts'
import { bodyOf, type Door, post } from './noisy.ts'

/** Writes a second through each door: less than the limit, so that it is nobody's doing but its own if it waits. */
const writesPerSecond = 40

/** How long each ack took, milliseconds. */
export type Latencies = Record<Door, number[]>

/** A thing that keeps to its limits: how long it waits for its acks. */
export class Neighbour {
  readonly #link: MqttLink
  readonly #agent = new Agent({ keepAlive: true })
  readonly #server: ServerProcess
  readonly #thing: Thing
  #value = 0

  private constructor(server: ServerProcess, thing: Thing, link: MqttLink) {
    this.#server = server
    this.#thing = thing
    this.#link = link
  }

  static async open(server: ServerProcess, thing: Thing): Promise<Neighbour> {
    const password = thing.thingToken
    return new Neighbour(
      server,
      thing,
      await MqttLink.open({ url: server.mqttUrl, clientId: 'neighbour', password }),
    )
  }

  /** Writes through both doors for so many milliseconds. */
  async measure(duration: number, into: Latencies): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const overMqtt = () => this.#link.publish(`things/${thingId}/write`, bodyOf(this.#value++), 1)
    const overHttp = async () => {
      const url = `${this.#server.url}/v2/things/${thingToken}`
      const { status, reason } = await post(url, bodyOf(this.#value++), this.#agent)
      if (status !== 201) throw new Error(`the neighbour was answered ${status} ${reason}`)
    }
    await Promise.all([timeEach(overMqtt, duration, into.MQTT), timeEach(overHttp, duration, into.HTTP)])
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await this.#link.disconnect()
  }
}

async function timeEach(write: () => Promise<unknown>, duration: number, into: number[]): Promise<void> {
  const begin = performance.now()
  const writing: Promise<unknown>[] = []
  for (let count = 0; performance.now() - begin < duration; count++) {
    const sentAt = performance.now()
    writing.push(write().then(() => into.push(performance.now() - sentAt)))
    const next = begin + ((count + 1) * 1_000) / writesPerSecond
    await delay(Math.max(0, next - performance.now()))
  }
  await Promise.all(writing)
}
