import assert from 'node:assert/strict'
import type { QoS } from 'mqtt-packet'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { errorsTopic } from '../../src/mqtt/topics.ts'
import { createThing, type ServerAddress, type Thing } from '../helpers/http-client.ts'
import { type ConnectOptions, connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import { ReadBack, type RefusedWrite } from './read-back.ts'

/** By which of the thing's two names its topics go (contract §1, `<ref>`), and how a client presents itself. */
const presentations: readonly [
  ref: keyof Thing,
  credentialOf: (thing: Thing, adminKey: string) => ConnectOptions,
][] = [
  ['thingToken', () => ({})],
  ['thingId', ({ thingToken }) => ({ username: thingToken })],
  ['thingToken', ({ thingToken }) => ({ username: 'device', password: thingToken })],
  ['thingId', (_thing, adminKey) => ({ username: 'operator', password: adminKey })],
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

export type MqttWriter = Awaited<ReturnType<typeof openMqttWriter>>

/** One connection for the writes of one thing, which waits for each to be handled. */
export async function openMqttWriter(
  service: ServerAddress,
  thing: Thing,
  { url, qos, variant }: MqttWriterOptions,
) {
  const [named, credentialOf] = presentations[variant % presentations.length] ?? assert.fail()
  const client = await connectMqtt({ url, ...credentialOf(thing, service.adminKey) })
  assert.equal(client.connack.returnCode, 0)
  const ref = thing[named]
  const ofErrors = errorsTopic(ref)
  assert((await client.subscribe(ofErrors)) < 128, 'the errors of the thing can be subscribed to')
  const marker = await createThing(service)
  const readBack = new ReadBack(service, thing)
  /** Places in the list of refused writes, from the oldest, of those that were an answer. */
  const answered = new Set<number>()
  let writes = Math.floor(variant / presentations.length)

  /** A write at QoS 0 is handled when a later one on its connection, to another thing, is acknowledged. */
  const publish = async (topic: string, body: Buffer) => {
    const published = client.publish(topic, body, { qos })
    if (qos !== 0) return await published
    const later = { values: [{ key: 'marker', value: 1 }] }
    await Promise.all([published, client.publish(`things/${marker.thingToken}/write`, later)])
  }
  return {
    /** Resolves when the write is handled. @returns what was told of it if it was refused */
    write: async (body: Buffer, format?: string): Promise<RefusedWrite | undefined> => {
      const topic = writeTopics[writes++ % writeTopics.length] ?? assert.fail()
      await publish(format === undefined ? topic(ref) : `things/${ref}/write/${format}`, body)
      const listed = (await readBack.refusedWrites()).toReversed()
      const excerpt = new Redactor().excerpt(body)
      const place = listed.findIndex((item, index) => !answered.has(index) && item.excerpt === excerpt)
      const item = listed[place]
      if (!item) return undefined
      answered.add(place)
      const { payload } = await client.next(isMessageOn(ofErrors))
      assert(!payload.includes(thing.thingToken), 'an error message must not hold the token')
      assert.deepEqual(JSON.parse(payload.toString()), item)
      return item
    },
    /** Ends the connection, whatever was told on it. */
    destroy: () => client.destroy(),
    /** Ends the connection. @throws AssertionError if a refusal was told that was no answer to a write */
    close: async () => {
      await client.ping()
      const told = client.received.filter(isMessageOn(ofErrors))
      await client.disconnect()
      assert.equal(told.length, answered.size, 'every refusal is told once')
    },
  }
}
