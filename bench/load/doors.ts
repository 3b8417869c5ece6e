import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import { HttpConnection, reasonOf } from '../../test/helpers/http-connection.ts'
import type { MqttClient } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'

export type Door = 'MQTT' | 'WebSocket' | 'HTTP'

/** The body of a write of one number. */
export function bodyOf(key: string, value: number): string {
  return `{"values":[{"key":"${key}","value":${value}}]}`
}

/** One thing at every door: over MQTT at QoS 1. */
export class Doors {
  readonly #thing: Thing
  readonly #links: Readonly<Record<'MQTT' | 'WebSocket', MqttClient>>
  readonly #http: HttpConnection

  private constructor(
    thing: Thing,
    links: Readonly<Record<'MQTT' | 'WebSocket', MqttClient>>,
    http: HttpConnection,
  ) {
    this.#thing = thing
    this.#links = links
    this.#http = http
  }

  /** @param mostHttp HTTP connections at once */
  static async open(server: ServerProcess, thing: Thing, mostHttp = Infinity): Promise<Doors> {
    const open = (url: string) => openLink({ url, clientId: `at-${url}`, password: thing.thingToken })
    const links = { MQTT: await open(server.mqttUrl), WebSocket: await open(server.webSocketUrl) }
    return new Doors(thing, links, new HttpConnection(server.url, mostHttp))
  }

  /** Resolves with the ack. @throws Error if there is none */
  async write(door: Door, body: string): Promise<void> {
    const { thingId, thingToken } = this.#thing
    if (door !== 'HTTP') return await this.#links[door].publish(`things/${thingId}/write`, body)
    const answer = await this.#http.post(`/v2/things/${thingToken}`, body)
    if (answer.status !== 201) throw new Error(`a write was answered ${answer.status} ${reasonOf(answer)}`)
  }

  async close(): Promise<void> {
    this.#http.close()
    await Promise.all(Object.values(this.#links).map(link => link.disconnect()))
  }
}

/**
 * Writes at times of its own, so many a second, whatever the acks do.
 *
 * @param onAck told when a write was sent and how long its ack took, milliseconds
 * @returns when everything is acknowledged
 */
export async function writeSteadily(
  rate: number,
  goesOn: () => boolean,
  write: () => Promise<void>,
  onAck: (sentAt: number, took: number) => void,
): Promise<void> {
  const begin = performance.now()
  const writing: Promise<void>[] = []
  for (let count = 1; goesOn(); count++) {
    const sentAt = performance.now()
    writing.push(write().then(() => onAck(sentAt, performance.now() - sentAt)))
    await delay(Math.max(0, begin + (count * 1_000) / rate - performance.now()))
  }
  await Promise.all(writing)
}
