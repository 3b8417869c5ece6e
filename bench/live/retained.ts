import type { Thing } from '../../test/helpers/http-client.ts'
import type { MqttClient } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { within } from '../../test/helpers/waiting.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'

/** Subscribes on one connection, and knows when a number of retained messages is there. */
export class RetainedReader {
  readonly #link: MqttClient
  readonly #counter: { left: number; onLast: () => void }

  private constructor(link: MqttClient, counter: { left: number; onLast: () => void }) {
    this.#link = link
    this.#counter = counter
  }

  static async open({ mqttUrl, adminKey }: ServerProcess): Promise<RetainedReader> {
    const counter = { left: 0, onLast: () => {} }
    const link = await openLink({
      url: mqttUrl,
      clientId: 'retained',
      password: adminKey,
      onMessage: ({ retain }) => {
        if (!retain) return
        counter.left--
        if (counter.left === 0) counter.onLast()
      },
    })
    return new RetainedReader(link, counter)
  }

  /** @returns milliseconds from SUBSCRIBE to the last of `count` retained messages. @throws Error if they do not come */
  async time(topic: string, qos: 0 | 1, count: number): Promise<number> {
    const begin = performance.now()
    const last = new Promise<number>(resolve => {
      this.#counter.left = count
      this.#counter.onLast = () => resolve(performance.now() - begin)
    })
    await this.#link.subscribeTo({ topic, qos })
    const took = await within(last, `${count} retained messages on ${topic}`)
    await this.#link.unsubscribe(topic)
    if (this.#counter.left < 0)
      throw new Error(`${-this.#counter.left} retained messages too many on ${topic}`)
    return took
  }

  close(): Promise<void> {
    return this.#link.disconnect()
  }
}

/** Times the view of one thing after another, each with `count` resources; milliseconds, sorted. */
export async function timeOneThing(
  server: ServerProcess,
  things: readonly Thing[],
  { subscribes, count }: { readonly subscribes: number; readonly count: number },
): Promise<number[]> {
  const reader = await RetainedReader.open(server)
  const times: number[] = []
  for (let place = 0; place < subscribes; place++) {
    const thing = things[Math.floor((place * things.length) / subscribes)]
    const topic = `things/${thing?.thingId}/values/#`
    times.push(await reader.time(topic, (place % 2) as 0 | 1, count))
  }
  await reader.close()
  return times.sort((a, b) => a - b)
}
