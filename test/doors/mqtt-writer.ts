import assert from 'node:assert/strict'
import type { QoS } from 'mqtt-packet'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { errorsTopic } from '../../src/mqtt/topics.ts'
import { createThing, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { type ConnectOptions, connectMqtt, isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import { ReadBack, type RefusedWrite } from './read-back.ts'

/** How a client presents itself, and by which of the thing's two names its topics go (contract §1, `<ref>`). */
interface Presentation {
  readonly credential: (thing: Thing, adminKey: string) => ConnectOptions
  readonly ref: 'thingId' | 'thingToken'
}

const presentations: readonly Presentation[] = [
  { credential: () => ({}), ref: 'thingToken' },
  { credential: ({ thingToken }) => ({ username: thingToken }), ref: 'thingId' },
  { credential: ({ thingToken }) => ({ username: 'device', password: thingToken }), ref: 'thingToken' },
  { credential: (_thing, adminKey) => ({ username: 'operator', password: adminKey }), ref: 'thingId' },
]

const writeTopics = [(ref: string) => `things/${ref}/write`, (ref: string) => `v2/things/${ref}`]

/** How many different `variant`s there are. */
export const writerVariants = presentations.length * writeTopics.length

export interface MqttWriterOptions {
  /** `mqttUrl` or `webSocketUrl` of the service. */
  readonly url: string
  readonly qos: QoS
  /** From 0: one of the ways to present oneself, with one of the spellings of the write topic to begin with. */
  readonly variant: number
}

/** One connection for the writes of one thing, which waits for each to be handled. */
export class MqttWriter {
  readonly #client: MqttClient
  readonly #thing: Thing
  readonly #ref: string
  readonly #qos: QoS
  readonly #readBack: ReadBack
  readonly #markerTopic: string
  /** Places in the list of refused writes, from the oldest, of those that were an answer. */
  readonly #answered = new Set<number>()
  #writes: number

  private constructor(client: MqttClient, thing: Thing, options: OpenWriter) {
    this.#client = client
    this.#thing = thing
    this.#ref = options.ref
    this.#qos = options.qos
    this.#readBack = options.readBack
    this.#markerTopic = `things/${options.marker.thingToken}/write`
    this.#writes = Math.floor(options.variant / presentations.length)
  }

  static async open(service: ServerAddress, thing: Thing, options: MqttWriterOptions): Promise<MqttWriter> {
    const presentation = presentations[options.variant % presentations.length] ?? assert.fail()
    const credential = presentation.credential(thing, service.adminKey)
    const client = await connectMqtt({ url: options.url, ...credential })
    assert.equal(client.connack.returnCode, 0)
    const ref = thing[presentation.ref]
    assert((await client.subscribe(errorsTopic(ref))) < 128, 'the errors of the thing can be subscribed to')
    const marker = await createThing(service)
    return new MqttWriter(client, thing, { ...options, ref, marker, readBack: new ReadBack(service, thing) })
  }

  /** Resolves when the write is handled. @returns what was told of it if it was refused */
  async write(body: Buffer): Promise<RefusedWrite | undefined> {
    const topic = writeTopics[this.#writes++ % writeTopics.length] ?? assert.fail()
    await this.#publish(topic(this.#ref), body)
    const listed = (await this.#readBack.refusedWrites()).toReversed()
    const place = listed.findIndex(
      (item, index) => !this.#answered.has(index) && item.excerpt === new Redactor().excerpt(body),
    )
    const item = listed[place]
    if (!item) return undefined
    this.#answered.add(place)
    const { payload } = await this.#client.next(isMessageOn(errorsTopic(this.#ref)))
    assert(!payload.includes(this.#thing.thingToken), 'an error message must not hold the token')
    assert.deepEqual(JSON.parse(payload.toString()), item)
    return item
  }

  /** Ends the connection, whatever was told on it. */
  destroy(): Promise<void> {
    return this.#client.destroy()
  }

  /** Ends the connection. @throws AssertionError if a refusal was told that was no answer to a write */
  async close(): Promise<void> {
    await this.#client.ping()
    const told = this.#client.received.filter(isMessageOn(errorsTopic(this.#ref)))
    await this.#client.disconnect()
    assert.equal(told.length, this.#answered.size, 'every refusal is told once')
  }

  /** A write at QoS 0 is handled when a later one on its connection, to another thing, is acknowledged. */
  async #publish(topic: string, body: Buffer): Promise<void> {
    const published = this.#client.publish(topic, body, { qos: this.#qos })
    if (this.#qos !== 0) return await published
    const later = { values: [{ key: 'marker', value: 1 }] }
    await Promise.all([published, this.#client.publish(this.#markerTopic, later, { qos: 1 })])
  }
}

interface OpenWriter extends MqttWriterOptions {
  readonly ref: string
  readonly marker: Thing
  readonly readBack: ReadBack
}
