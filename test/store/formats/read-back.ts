import { expect } from 'vitest'
import { ask, type ServerAddress, type Thing } from '../../helpers/http-client.ts'
import { connectAccepted, type Message, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import * as content from './content.ts'

interface Address extends ServerAddress {
  readonly mqttUrl: string
}

/** Reads all that `fill.ts` has put into a store, over HTTP and MQTT. */
export async function expectContent(
  server: Address,
  extent: content.Extent,
  temperatures: readonly content.Reading[],
) {
  const { things } = await ask<{ things: { thingId: string; name: string }[] }>(
    server,
    'GET',
    '/v2/admin/things',
  )
  const named = (name: string) => things.find(thing => thing.name === name)?.thingId ?? ''
  await expectReadings(server, named('boat'), temperatures)
  if (extent === 'things') return
  await expectSessions(server, named('boat'))
  if (extent === 'topics') await expectTopics(server, named('hub'))
}

async function expectReadings(server: Address, thingId: string, temperatures: readonly content.Reading[]) {
  const { depths, notes, crowd, missed } = content
  for (const readings of [temperatures, depths, notes, crowd, missed]) {
    const { key } = readings[0] as content.Reading
    expect(await readAll(server, thingId, key)).toEqual(inOrder(readings))
  }
  const hours = '?aggregate=count,min,max&interval=1h&order=asc&limit=1000'
  const counted = await ask<{ count: number; min: number; max: number }[]>(
    ...([server, 'GET', `/v2/things/${thingId}/resources/temperature${hours}`] as const),
  )
  const values = temperatures.map(({ value }) => value as number)
  expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(values.length)
  expect(Math.min(...counted.map(({ min }) => min))).toBe(Math.min(...values))
  expect(Math.max(...counted.map(({ max }) => max))).toBe(Math.max(...values))
  expect(await readAll(server, thingId, 'gone')).toEqual([])
  const state = (key: string) => ask(server, 'GET', `/v2/things/${thingId}/resources/${key}`)
  expect(await state('$geo')).toMatchObject([{ value: content.place }])
  expect(await state('$settings')).toMatchObject([{ value: content.settings }])
  expect(await ask(server, 'GET', `/v2/things/${thingId}/errors`)).toMatchObject([{ reason: 'invalid_key' }])
}

/** Those who were away find what they have missed; a resend is known; the will of one who has not come back is written. */
async function expectSessions(server: Address, thingId: string) {
  const address = { url: server.mqttUrl, username: await newToken(server, thingId), clean: false }
  const watcher = await connectAccepted({ ...address, clientId: 'watcher' })
  expect(watcher.connack.sessionPresent).toBe(true)
  expect(
    (await messages(watcher, content.missed.length)).map(({ payload }) => JSON.parse(payload.toString())),
  ).toEqual(content.missed)
  await watcher.disconnect()
  const device = await connectAccepted({ ...address, clientId: 'device' })
  const resent = { qos: 2, dup: true, messageId: content.inFlightId } as const
  device.send(publishPacket(`things/${thingId}/write`, content.inFlight, resent))
  await device.next(({ cmd }) => cmd === 'pubrec')
  await device.release(content.inFlightId)
  await device.disconnect()
  expect(await readAll(server, thingId, 'level')).toHaveLength(1)
  await expect.poll(() => readAll(server, thingId, 'will')).toHaveLength(1)
}

async function expectTopics(server: Address, thingId: string) {
  const token = await newToken(server, thingId)
  const hub = await connectAccepted({ url: server.mqttUrl, username: token, clean: false, clientId: 'hub' })
  const received = await messages(hub, content.queued.length)
  expect(received.map(({ topic, payload, qos }) => ({ topic, payload: payload.toString(), qos }))).toEqual(
    content.queued,
  )
  await hub.subscribe('tele/+/LWT')
  const kept = await messages(hub, content.retained.length)
  expect(kept.map(({ topic, payload, retain }) => `${topic} ${payload} ${retain}`).sort()).toEqual(
    content.retained.map(({ topic, payload }) => `${topic} ${payload} true`).sort(),
  )
  await hub.disconnect()
}

async function messages(client: MqttClient, count: number): Promise<Message[]> {
  const received: Message[] = []
  while (received.length < count) {
    received.push((await client.next(({ cmd }) => cmd === 'publish')) as Message)
  }
  return received
}

async function newToken(server: Address, thingId: string): Promise<string> {
  return (await ask<Thing>(server, 'POST', `/v2/admin/things/${thingId}/tokens`)).thingToken
}

async function readAll({ url, adminKey }: Address, thingId: string, key: string): Promise<content.Reading[]> {
  const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${adminKey}` }
  const response = await fetch(`${url}/v2/things/${thingId}/resources/${key}`, { headers })
  const text = await response.text()
  if (response.status !== 200) return []
  return inOrder(
    text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as content.Reading),
  )
}

/** By time, and those of one time by their value. */
function inOrder(readings: readonly content.Reading[]): content.Reading[] {
  const place = ({ datetime, value }: content.Reading) =>
    `${datetime} ${String(JSON.stringify(value)).padStart(8)}`
  return readings.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
}
