import { setTimeout as delay } from 'node:timers/promises'
import { type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** Milliseconds from an answer to the next request. */
const pause = 50
const keptFailures = 20

/** The acks that one client waits for. */
class Acks {
  count = 0
  readonly failures: string[] = []
  #last = performance.now()
  #longestGap = 0

  take(): void {
    this.#longestGap = this.longestGap
    this.#last = performance.now()
    this.count++
  }

  fail(what: string): void {
    if (this.failures.length < keptFailures) this.failures.push(what)
  }

  /** Longest time from one to the next, or for which there has been none until now, milliseconds. */
  get longestGap(): number {
    return Math.max(this.#longestGap, performance.now() - this.#last)
  }

  /** What comes from now on counts, and what failed before. */
  reset(): void {
    this.count = 0
    this.#longestGap = 0
    this.#last = performance.now()
  }
}

export type HealthyClients = Awaited<ReturnType<typeof startHealthyClients>>

/** Starts clients that do nothing wrong while others do, one at each door. */
export async function startHealthyClients(
  server: ServerProcess,
  [httpThing, mqttThing]: readonly [Thing, Thing],
) {
  const [http, mqtt] = [new Acks(), new Acks()]
  const stopping = new AbortController()
  const running = [
    repeat(http, stopping.signal, place => post(server, httpThing, place)),
    publishAll(server, mqttThing, mqtt, stopping.signal),
  ]
  return {
    /** By HTTP POST. */
    http,
    /** By PUBLISH at QoS 1 to its thing and to another topic, with the message of each at a subscription of its own. */
    mqtt,
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

async function repeat(acks: Acks, stop: AbortSignal, once: (place: number) => Promise<void>): Promise<void> {
  for (let place = 0; !stop.aborted; place++) {
    try {
      await once(place)
      acks.take()
    } catch (error) {
      acks.fail((error as Error).message)
    }
    await delay(pause)
  }
}

async function post(server: ServerProcess, thing: Thing, place: number): Promise<void> {
  const { status } = await write(server, thing, { values: [{ key: 'healthy', value: place }] })
  if (status !== 201) throw new Error(`a good POST was answered with ${status}`)
}

async function publishAll(
  { mqttUrl }: ServerProcess,
  { thingToken, thingId }: Thing,
  acks: Acks,
  stop: AbortSignal,
): Promise<void> {
  const live = `things/${thingToken}/values/healthy`
  const beside = `house/${thingId}/healthy`
  let client: MqttClient | undefined
  await repeat(acks, stop, async place => {
    if (!client || client.stream.destroyed) {
      if (client) acks.fail('the connection of a good MQTT client was closed')
      client = await connectMqtt({ url: mqttUrl, username: thingToken })
      await client.subscribeTo({ topic: live, qos: 1 }, { topic: beside, qos: 1 })
    }
    const [value, relayed] = await Promise.all([
      client.next(isMessageOn(live)),
      client.next(isMessageOn(beside)),
      client.publish(`things/${thingToken}/write`, { values: [{ key: 'healthy', value: place }] }),
      client.publish(beside, String(place)),
    ])
    // Each message comes once and in order, so the next one is that of this publish.
    const payloads = `${value.payload} ${relayed.payload}`
    if (!payloads.includes(`"value":${place},`) || !payloads.endsWith(` ${place}`)) {
      throw new Error(`${payloads} came for ${place}`)
    }
  })
  await client?.disconnect()
}
