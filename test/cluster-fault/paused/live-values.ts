import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../helpers/http-client.ts'
import { connectMqtt, isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'

/** A connection may be silent for longer than any pause, milliseconds. */
const silence = 120_000

/** A live subscriber to every resource of one thing, without a session. */
export class LiveValues {
  readonly #client: MqttClient
  readonly #told = new Map<string, unknown[]>()

  private constructor(client: MqttClient) {
    this.#client = client
    void this.#receive()
  }

  /** Resolves when it is subscribed. */
  static async at({ mqttUrl: url }: ServerProcess, { thingId, thingToken }: Thing): Promise<LiveValues> {
    const client = await connectMqtt({ url, username: 'live', password: thingToken, deadline: silence })
    await client.subscribe(`things/${thingId}/values/+`)
    return new LiveValues(client)
  }

  get isClosed(): boolean {
    return this.#client.stream.destroyed
  }

  /** The values of a resource that were told live, oldest first. */
  of(key: string): readonly unknown[] {
    return this.#told.get(key) ?? []
  }

  /** Resolves with whether the value is told within so many milliseconds. */
  async until(key: string, value: unknown, within: number): Promise<boolean> {
    const until = performance.now() + within
    while (!this.of(key).includes(value)) {
      if (performance.now() > until) return false
      await delay(10)
    }
    return true
  }

  async end(): Promise<void> {
    await this.#client.destroy()
  }

  async #receive(): Promise<void> {
    try {
      for (;;) {
        const { topic, payload, retain } = await this.#client.next(isOf('publish'))
        if (retain) continue
        const key = topic.slice(topic.lastIndexOf('/') + 1)
        const { value } = JSON.parse(payload.toString()) as { value: unknown }
        this.#told.set(key, [...this.of(key), value])
      }
    } catch {
      // The connection is gone.
    }
  }
}
