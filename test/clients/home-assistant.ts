import { Changes } from '../helpers/changes.ts'
import { isOf, type MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** Home Assistant gives all topics without a wildcard this subscription identifier, so many of them in one SUBSCRIBE. */
const plainIdentifier = 1
const lot = 500
export const statusTopic = 'homeassistant/status'
const deadline = 20_000

/** A message that a handler was called with. */
export interface Call {
  readonly topic: string
  readonly payload: string
  readonly retain: boolean
}

interface Handler {
  readonly filter: string
  readonly identifier: number
  readonly calls: Call[]
}

/**
 * Home Assistant's MQTT client by its packets. Of a message it looks at the first subscription identifier alone, and calls
 * the handlers of that identifier: of a wildcard its only one, else the one of the topic.
 */
export class HomeAssistant {
  /** Its connection with CONNACK, without subscriptions yet. */
  static async connect({ mqttUrl: url }: ServerProcess, password: string): Promise<HomeAssistant> {
    const handlers = new Map<string, Handler>()
    const changes = new Changes()
    const client = await mqttOfTest({
      ...{ url, protocolVersion: 5, clientId: 'homeassistant', clean: true, username: 'x', password },
      will: { topic: statusTopic, payload: 'offline', qos: 1, retain: true },
      onMessage: ({ topic, payload, retain, properties }) => {
        const [first] = [properties?.subscriptionIdentifier ?? []].flat()
        const called = [...handlers.values()].filter(
          ({ identifier, filter }) =>
            identifier === first && (identifier !== plainIdentifier || filter === topic),
        )
        for (const { calls } of called) calls.push({ topic, payload: payload.toString(), retain })
        changes.tell()
      },
    })
    return new HomeAssistant(client, handlers, changes)
  }

  readonly client: MqttClient
  readonly #handlers: Map<string, Handler>
  readonly #changes: Changes

  private constructor(client: MqttClient, handlers: Map<string, Handler>, changes: Changes) {
    this.client = client
    this.#handlers = handlers
    this.#changes = changes
  }

  /** Subscribes, each wildcard in a SUBSCRIBE of its own. @returns what SUBACK says of each filter */
  async subscribe(filters: readonly string[], qos: 0 | 1 | 2): Promise<readonly number[]> {
    const isWildcard = (filter: string) => /[+#]/.test(filter)
    const wildcards = filters.filter(isWildcard)
    const plain = filters.filter(filter => !isWildcard(filter))
    const granted: number[] = []
    for (const [place, filter] of wildcards.entries())
      granted.push(...(await this.#subscribe([filter], qos, plainIdentifier + 1 + place)))
    for (let from = 0; from < plain.length; from += lot)
      granted.push(...(await this.#subscribe(plain.slice(from, from + lot), qos, plainIdentifier)))
    return granted
  }

  /** What the handler of this filter was called with, in order. */
  callsOf(filter: string): readonly Call[] {
    return this.#handlers.get(filter)?.calls ?? []
  }

  /** How often all handlers together were called. */
  get calls(): number {
    return [...this.#handlers.values()].reduce((sum, { calls }) => sum + calls.length, 0)
  }

  /** Resolves when the handlers were called so often, or past a deadline, and nothing more is on the way. */
  async untilCalled(calls: number): Promise<void> {
    await this.#changes.until(() => this.calls >= calls, deadline)
    await this.client.ping()
  }

  /** Forgets all calls. */
  clear(): void {
    for (const { calls } of this.#handlers.values()) calls.length = 0
  }

  async #subscribe(
    filters: readonly string[],
    qos: 0 | 1 | 2,
    subscriptionIdentifier: number,
  ): Promise<readonly number[]> {
    // Retained messages may come right behind SUBACK.
    for (const filter of filters)
      this.#handlers.set(filter, { filter, identifier: subscriptionIdentifier, calls: [] })
    const messageId = this.client.nextMessageId()
    const subscriptions = filters.map(topic => ({ topic, qos }))
    const properties = { subscriptionIdentifier }
    this.client.send({ cmd: 'subscribe', messageId, subscriptions, properties })
    return (await this.client.next(isOf('suback', messageId))).granted as number[]
  }
}

/** Whether a topic matches a filter, by the words of the standard, on its own. */
export function matches(filter: string, topic: string): boolean {
  const levels = topic.split('/')
  const wanted = filter.split('/')
  const isOpen = wanted.at(-1) === '#'
  const fixed = isOpen ? wanted.slice(0, -1) : wanted
  const isEnough = isOpen ? levels.length >= fixed.length : levels.length === fixed.length
  return isEnough && fixed.every((level, place) => level === '+' || level === levels[place])
}
