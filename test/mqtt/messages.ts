import type { QoS } from 'mqtt-packet'
import { expect } from 'vitest'
import { type ServerAddress, type Thing, write } from '../helpers/http-client.ts'
import type { MqttClient } from '../helpers/mqtt-client.ts'
import { type DoorService, reading, writeTopicOf } from './door-service.ts'

/** A message as a subscriber sees it. */
export interface Message {
  readonly topic: string
  readonly payload: string
  readonly qos: QoS
  readonly retain: boolean
  readonly dup: boolean
}

/** The messages that a client has received, in order; on topics of which the end is `ending`, if one is given. */
export function messagesOf(client: MqttClient, ending = ''): Message[] {
  return client.received.flatMap(packet => {
    if (packet.cmd !== 'publish' || !packet.topic.endsWith(ending)) return []
    const { topic, payload, qos, retain, dup } = packet
    return [{ topic, payload: payload.toString(), qos, retain, dup }]
  })
}

/** The `value` of each message about a record that a client has received, in order. */
export function valuesOf(client: MqttClient, key: string): unknown[] {
  return messagesOf(client, `/values/${key}`).map(({ payload }) => valueIn(payload))
}

/** The `value` in the payload of a message about a record; undefined if it is empty. */
export function valueIn(payload: string): unknown {
  return payload === '' ? undefined : (JSON.parse(payload) as { value: unknown }).value
}

/** Waits for the next message on a topic with this end that was not taken. */
export async function nextOn(client: MqttClient, ending: string): Promise<Message> {
  const packet = await client.next(
    packet => packet.cmd === 'publish' && packet.topic.endsWith(ending) && !packet.retain,
  )
  if (packet.cmd !== 'publish') throw new Error('no message')
  const { topic, payload, qos, retain, dup } = packet
  return { topic, payload: payload.toString(), qos, retain, dup }
}

/** A resource that nothing but `passed` writes. */
const mark = 'mark'
let marks = 0

/**
 * Resolves when the client has every live message of what was written before, if it gets any at all. Writes a record of
 * its own, which is sent live only.
 *
 * @param witness subscribed to the live messages of the thing's resource `mark`
 */
export async function passed(
  service: ServerAddress,
  thing: Thing,
  witness: MqttClient,
  ...clients: readonly MqttClient[]
): Promise<void> {
  const value = ++marks
  const written = await write(service, thing, { values: [{ key: mark, value }], store: false })
  expect(written.status).toBe(201)
  while (valueIn((await nextOn(witness, `/values/${mark}`)).payload) !== value);
  for (const client of clients) await client.ping()
}

/** Whether a message is one of `passed`. */
export function isMark({ topic, payload }: Message): boolean {
  return topic.endsWith(`/values/${mark}`) || payload.includes(`"key":"${mark}"`)
}

/** A write over HTTP that is taken. */
export async function post(service: ServerAddress, thing: Thing, body: object): Promise<void> {
  const response = await write(service, thing, body)
  expect(response.status, await response.text()).toBe(201)
}

/** What REST gives as the latest of a resource, as text without the brackets; undefined if it is gone or never was. */
export async function latestOverHttp(
  { url }: ServerAddress,
  { thingToken }: Thing,
  key: string,
): Promise<string | undefined> {
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}`)
  const text = await response.text()
  if (response.status === 404) return undefined
  expect(response.status).toBe(200)
  return text === '[]' ? undefined : text.slice(1, -1)
}

/** Numbers from 0 to one less than `count`, or from `first` on. */
export function numbers(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

/** Writes a record of the resource `n` for each value, in this order, and waits until all of them are taken. */
export async function writeAll(service: DoorService, thing: Thing, ...values: unknown[]): Promise<void> {
  const writer = await service.connectThing(thing)
  const topic = writeTopicOf(thing.thingToken)
  await Promise.all(values.map(value => writer.publish(topic, reading(value))))
  await writer.disconnect()
}
