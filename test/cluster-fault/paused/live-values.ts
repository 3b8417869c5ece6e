import { Changes } from '../../helpers/changes.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { connectMqtt, type Message, type MqttClient } from '../../helpers/mqtt-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'

/** A live subscriber to every resource of one thing, without a session. */
export class LiveValues {
  readonly #told = new Map<string, unknown[]>()
  readonly #changes = new Changes()
  #client: MqttClient | undefined

  /** Resolves when it is subscribed. */
  static async at({ mqttUrl: url }: ServerProcess, { thingId, thingToken }: Thing): Promise<LiveValues> {
    const values = new LiveValues()
    const onMessage = (message: Message) => values.#take(message)
    values.#client = await connectMqtt({ url, username: 'live', password: thingToken, onMessage })
    await values.#client.subscribe(`things/${thingId}/values/+`)
    return values
  }

  get isClosed(): boolean {
    return this.#client?.stream.destroyed === true
  }

  /** The values of a resource that were told live, oldest first. */
  of(key: string): readonly unknown[] {
    return this.#told.get(key) ?? []
  }

  /** Resolves with whether the value is told within so many milliseconds. */
  until(key: string, value: unknown, within: number): Promise<boolean> {
    return this.#changes.until(() => this.of(key).includes(value), within)
  }

  async end(): Promise<void> {
    await this.#client?.destroy()
  }

  #take({ topic, payload, retain }: Message): void {
    if (retain) return
    const key = topic.slice(topic.lastIndexOf('/') + 1)
    const { value } = JSON.parse(payload.toString()) as { value: unknown }
    this.#told.set(key, [...this.of(key), value])
    this.#changes.tell()
  }
}
