import { expect } from 'vitest'
import { type Thing, write } from '../../helpers/http-client.ts'
import {
  type ConnectOptions,
  connectMqtt,
  isMessageOn,
  isOf,
  type MqttClient,
} from '../../helpers/mqtt-client.ts'
import { addressOf, type Way } from '../run-mqtt.ts'
import type { World } from '../world.ts'

/** A trick that takes several steps, on things of its own. */
export interface MqttStory {
  readonly name: string
  readonly run: (world: World, way: Way) => Promise<void>
}

export interface HttpStory {
  readonly name: string
  readonly run: (world: World) => Promise<void>
}

/** Connects with this credential as password; anonymous with none. */
export async function login(
  world: Pick<World, 'server'>,
  way: Way,
  credential: string | undefined,
  options: ConnectOptions = {},
): Promise<MqttClient> {
  const client = await connectMqtt({
    url: addressOf(world, way),
    ...(credential !== undefined && { username: 'anybody', password: credential }),
    ...options,
  })
  expect(client.connack.returnCode).toBe(0)
  return client
}

/** One record of the resource `n`. */
export async function writeValue(
  { server }: Pick<World, 'server'>,
  thing: Thing,
  value: string,
): Promise<void> {
  expect((await write(server, thing, { values: [{ key: 'n', value }] })).status).toBe(201)
}

/** The values of all records of messages received so far, in order; `retained` or live ones. */
export async function valuesOf(client: MqttClient, kind: 'live' | 'retained' = 'live'): Promise<unknown[]> {
  // What was sent before the answer to a ping is there then.
  await client.ping()
  return client.received
    .filter(isOf('publish'))
    .filter(({ retain }) => retain === (kind === 'retained'))
    .flatMap(({ payload }) => {
      const told: unknown = JSON.parse(payload.toString())
      return Array.isArray(told) ? told : [told]
    })
    .filter((item: object) => 'value' in item && !('key' in item && item.key === 'date'))
    .map((item: { value: unknown }) => item.value)
}

/** Waits until a live record of this value is there. */
export async function untilValue(client: MqttClient, value: string): Promise<void> {
  await client.next(packet => packet.cmd === 'publish' && packet.payload.includes(JSON.stringify(value)))
}

/** Subscribes to an activation topic and waits for the answer. */
export async function activate(client: MqttClient, topic: string): Promise<Thing> {
  expect(await client.subscribe(topic)).not.toBe(128)
  const { payload } = await client.next(isMessageOn(topic))
  return JSON.parse(payload.toString()) as Thing
}
