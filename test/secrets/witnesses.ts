import { type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt, type MqttClient } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { StreamClient } from '../http/stream-client.ts'
import type { Evidence } from './evidence.ts'

/** Somebody who may see a thing, and knows no secret but his own. */
export interface Witness {
  readonly name: string
  readonly password: string
  readonly filters: readonly string[]
  /** Default true. */
  readonly clean?: boolean
}

/** Takes down everything that others are told while secrets are used. */
export class Witnesses {
  readonly #server: ServerProcess
  readonly #evidence: Evidence
  readonly #clients = new Map<string, MqttClient>()
  readonly #streams = new Map<string, StreamClient>()

  constructor(server: ServerProcess, evidence: Evidence) {
    this.#server = server
    this.#evidence = evidence
  }

  async watch({ name, password, filters, clean = true }: Witness): Promise<void> {
    const url = this.#clients.size % 2 === 0 ? this.#server.mqttUrl : this.#server.webSocketUrl
    const client = await connectMqtt({
      url,
      username: name,
      password,
      clientId: name,
      clean,
      deadline: 60_000,
    })
    this.#clients.set(name, client)
    const granted = await client.subscribeAll(filters)
    if (granted.includes(128)) throw new Error(`${name} may not see what it is to witness`)
  }

  /** @param path with the session token of the witness, which is not in what the stream sends */
  async stream(name: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const stream = await StreamClient.open(`${this.#server.url}${path}`, headers)
    this.#streams.set(name, stream)
    this.#evidence.add('told', `the head of a stream to the ${name}`, await stream.head())
  }

  /** Has the thing write, and waits until all who may see that have seen it: they have then seen what was before it. */
  async untilMarked(thing: Thing, text: string): Promise<void> {
    const all = [...this.#clients.keys()].filter(name => name !== 'neighbour')
    const told = all.map(name => this.untilTold(name, text))
    await write(this.#server, thing, { values: [{ key: 'mark', value: text }] })
    await Promise.all([
      ...told,
      ...[...this.#streams].map(([name, stream]) => this.#read(name, stream, text)),
    ])
  }

  /** Resolves when a client has a message with this text in it. */
  async untilTold(name: string, text: string): Promise<void> {
    await this.#clients.get(name)?.next(packet => packet.cmd === 'publish' && packet.payload.includes(text))
  }

  /** Takes down what the clients have received, and ends their connections. */
  async end(): Promise<void> {
    for (const [name, client] of this.#clients) {
      await client.destroy()
      for (const packet of client.received) {
        if (packet.cmd !== 'publish') continue
        this.#evidence.add('told', `a topic to the ${name}`, packet.topic)
        this.#evidence.add('told', `a message to the ${name}`, packet.payload)
      }
    }
    for (const stream of this.#streams.values()) await stream.destroy()
  }

  async #read(name: string, stream: StreamClient, text: string): Promise<void> {
    let chunk: string
    do {
      chunk = await stream.next()
      this.#evidence.add('told', `a stream to the ${name}`, chunk)
    } while (!chunk.includes(text))
  }
}
