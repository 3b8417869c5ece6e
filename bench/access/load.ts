import { createThing, type Thing, write } from '../../test/helpers/http-client.ts'
import { connectMqtt, type MqttClient } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'

const things = 20
/** As far as the machine lets this process send them. */
export const writesPerSecond = 500

/** What a server has to do while it is measured: 20 things that write at QoS 1 and over HTTP, by turns. */
export class Load {
  readonly #begin = performance.now()
  readonly #clients: readonly MqttClient[]
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #inHand = new Set<Promise<void>>()
  #acked = 0
  #failed = 0

  static async start(server: ServerProcess): Promise<Load> {
    const all = await Promise.all(Array.from({ length: things }, () => createThing(server)))
    const connect = ({ thingToken }: Thing) => connectMqtt({ url: server.mqttUrl, username: thingToken })
    return new Load(server, all, await Promise.all(all.map(connect)))
  }

  private constructor(server: ServerProcess, all: readonly Thing[], clients: readonly MqttClient[]) {
    this.#clients = clients
    const interval = (things * 1_000) / writesPerSecond
    this.#timers = clients.map((client, index) => {
      const thing = all[index] as Thing
      let count = 0
      return setInterval(() => {
        const body = { values: [{ key: 'load', value: count }] }
        const isOverHttp = ++count % 2 === 0
        const writing = isOverHttp
          ? write(server, thing, body).then(({ status }) => status === 201)
          : client.publish(`things/${thing.thingToken}/write`, body).then(() => true)
        this.#take(writing)
      }, interval)
    })
  }

  /** @returns writes a second that were acknowledged, and how many were not at all */
  async stop(): Promise<{ readonly rate: number; readonly failed: number }> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#inHand)
    const seconds = (performance.now() - this.#begin) / 1_000
    await Promise.all(this.#clients.map(client => client.disconnect()))
    return { rate: this.#acked / seconds, failed: this.#failed }
  }

  #take(writing: Promise<boolean>): void {
    const taken = writing
      .catch(() => false)
      .then(isAcked => {
        if (isAcked) this.#acked++
        else this.#failed++
        this.#inHand.delete(taken)
      })
    this.#inHand.add(taken)
  }
}
