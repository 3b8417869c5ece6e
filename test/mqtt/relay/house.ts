import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import type { ConnectOptions, Message, MqttClient } from '../../helpers/mqtt-client.ts'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'

/** On which of two nodes a client connects; where there is one, both are it. */
export type Node = 'here' | 'there'

/** A server that relays `house/#`, and clients that may use it. */
export interface House {
  /** A client that may read and write everything that is relayed, with a session of its own unless a password is given. */
  connect(node: Node, options?: ConnectOptions): Promise<MqttClient>
  /** The password of one who may use these. */
  passwordFor(grants: readonly TopicGrant[]): Promise<string>
  /** Bytes. */
  readonly maxPacketSize: number
}

export const everything: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

export async function messageOn(client: MqttClient, topic: string): Promise<Message> {
  return (await client.next(isMessageOn(topic))) as Message
}

export async function textOn(client: MqttClient, topic: string): Promise<string> {
  return (await messageOn(client, topic)).payload.toString()
}

/** Publishes a mark, and resolves when the client has it: all that was published before by the same client, it has, too. */
export async function passed(publisher: MqttClient, subscriber: MqttClient, topic: string): Promise<void> {
  const text = `passed ${marks++}`
  await publisher.publish(topic, text)
  await subscriber.next(packet => packet.cmd === 'publish' && String(packet.payload) === text)
}

let marks = 0

/** What a client has received, as `topic payload qos`, in order; marks left out. */
export function receivedBy(client: MqttClient): string[] {
  return client.received
    .filter(isOf('publish'))
    .map(({ topic, payload, qos }) => `${topic} ${payload} ${qos}`)
    .filter(text => !text.includes(' passed '))
}

/** What a broker owes its clients (MQTT 3.1.1), beside what real clients show. */
export interface Duty {
  readonly name: string
  /** @param base begins every topic of it */
  run(house: House, base: string): Promise<void>
}

export const levels = [0, 1, 2] as const

/** A client that comes again under the same id. */
export async function comer(house: House, clientId: string) {
  const password = await house.passwordFor(everything)
  return (clean = false) => ({ username: 'x', password, clientId, clean })
}
