import { setTimeout as delay } from 'node:timers/promises'
import type { ServerAddress, Thing } from '../../helpers/http-client.ts'
import { connectMqtt, isMessageOn, type MqttClient } from '../../helpers/mqtt-client.ts'

/** Milliseconds between a message and the next. */
const interval = 20

export interface PairReport {
  /** Values whose PUBLISH was acknowledged, in order. */
  readonly acked: readonly number[]
  /** Values that the subscriber got, in order. */
  readonly received: readonly number[]
  /** The longest time from a PUBLISH to its ack or its message, milliseconds. */
  readonly longestWait: number
}

/** A publisher and a subscriber of a thing and of a topic beside, who mind their own business while others do not. */
export class HealthyPair {
  readonly #publisher: MqttClient
  readonly #subscriber: MqttClient
  readonly #thing: Thing
  readonly #acked: number[] = []
  readonly #received: number[] = []
  readonly #running: Promise<void>
  #longestWait = 0
  #isStopping = false

  /** @param thing with topics of `topicGrants` */
  static async start(
    server: ServerAddress & { readonly mqttUrl: string },
    thing: Thing,
  ): Promise<HealthyPair> {
    const connect = (clientId: string) =>
      connectMqtt({ url: server.mqttUrl, clientId, username: thing.thingToken, keepalive: 5 })
    const [publisher, subscriber] = await Promise.all([connect('publisher'), connect('subscriber')])
    await subscriber.subscribeTo(
      { topic: `things/${thing.thingId}/values/n`, qos: 1 },
      { topic: topicOf(thing), qos: 1 },
    )
    return new HealthyPair(publisher, subscriber, thing)
  }

  private constructor(publisher: MqttClient, subscriber: MqttClient, thing: Thing) {
    this.#publisher = publisher
    this.#subscriber = subscriber
    this.#thing = thing
    this.#running = this.#run()
    // Awaited in `stop`.
    this.#running.catch(() => {})
  }

  /** @throws Error if one of them was disconnected, or waited too long */
  async stop(): Promise<PairReport> {
    this.#isStopping = true
    await this.#running
    await Promise.all([this.#publisher.disconnect(), this.#subscriber.disconnect()])
    return { acked: this.#acked, received: this.#received, longestWait: this.#longestWait }
  }

  async #run(): Promise<void> {
    const { thingId, thingToken } = this.#thing
    const topic = `things/${thingId}/values/n`
    const beside = topicOf(this.#thing)
    for (let value = 0; !this.#isStopping; value++) {
      const begun = performance.now()
      const message = this.#subscriber.next(isMessageOn(topic))
      const relayed = this.#subscriber.next(isMessageOn(beside))
      await Promise.all([
        this.#publisher
          .publish(`things/${thingToken}/write`, { values: [{ key: 'n', value }] })
          .then(() => this.#acked.push(value)),
        message.then(({ payload }) => this.#received.push(JSON.parse(payload.toString()).value)),
        this.#publisher.publish(beside, String(value)),
        relayed.then(({ payload }) => {
          if (String(payload) !== String(value)) throw new Error(`${payload} came on ${beside} for ${value}`)
        }),
      ])
      this.#longestWait = Math.max(this.#longestWait, performance.now() - begun)
      await delay(interval)
    }
  }
}

/** One that no input of the others names. */
const topicOf = ({ thingId }: Thing) => `house/${thingId}/healthy`
