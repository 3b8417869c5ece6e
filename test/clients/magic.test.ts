import { describe, expect, it } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { mqttOfTest, serverOfTests } from '../helpers/of-test.ts'
import { type Inbox, type Message, recordValue } from './client.ts'
import { liveClients } from './clients.ts'

/** The position and the settings of a thing, as clients that nobody here wrote see them. */

const server = serverOfTests()

const point = (long: number, lat: number) => ({ type: 'Point', coordinates: [long, lat] })
const at = (hour: number) => `202601010${hour}0000`

/** Writes in this order, one over HTTP and the next over MQTT. */
async function writeInTurn(thing: Thing, records: readonly object[]): Promise<void> {
  const device = await mqttOfTest({ url: server().mqttUrl })
  for (const [place, record] of records.entries()) {
    const body = { values: [record] }
    if (place % 2 === 0) expect((await write(server(), thing, body)).status).toBe(201)
    else await device.publish(`things/${thing.thingToken}/write`, body, { qos: 1 })
  }
}

/** The values of one resource once one of them has been received. */
async function valuesUntil(inbox: Inbox, topic: string, last: unknown): Promise<unknown[]> {
  const isOn = (message: Message) => message.topic === topic
  const lastText = JSON.stringify(last)
  const all = await inbox.until(message => isOn(message) && JSON.stringify(recordValue(message)) === lastText)
  return all.filter(isOn).map(recordValue)
}

async function latestText(thing: Thing, key: string): Promise<string> {
  const response = await fetch(`${server().url}/v2/things/${thing.thingToken}/resources/${key}`)
  return (await response.text()).slice(1, -1)
}

const settingsEdits = [
  { key: '$settings', value: { name: 'boat', alarm: { depth: 3 } } },
  { key: '$settings.alarm.depth', value: 5 },
  { key: '$settings.alarm.sound', value: 'horn' },
  { key: '$settings', value: { name: null } },
]
const settingsDocuments = [
  { name: 'boat', alarm: { depth: 3 } },
  { name: 'boat', alarm: { depth: 5 } },
  { name: 'boat', alarm: { depth: 5, sound: 'horn' } },
  { alarm: { depth: 5, sound: 'horn' } },
]

describe.each(liveClients)('$name', client => {
  it('sees each change of the settings, and later the document that is left', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/values/$settings`
    const { inbox } = await client.subscribe(server(), { filters: [topic], qos: 1 })
    await writeInTurn(thing, settingsEdits)
    expect(await valuesUntil(inbox, topic, settingsDocuments.at(-1))).toEqual(settingsDocuments)
    const later = await client.subscribe(server(), {
      filters: [`things/${thing.thingToken}/values/#`],
      qos: 1,
    })
    expect(await later.inbox.first(1)).toEqual([
      { topic, payload: await latestText(thing, '$settings'), qos: 1, retain: true },
    ])
  })

  it('sees the position move, and never back', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/values/$geo`
    const { inbox } = await client.subscribe(server(), { filters: [topic], qos: 0 })
    await writeInTurn(thing, [
      { key: '$geo', value: point(23.5, 60.1), datetime: at(1) },
      { key: '$geo', value: [23.6, 60.2], datetime: at(3) },
      { key: '$geo', value: [0, 0], datetime: at(2) },
      { key: '$geo', value: null, geo: { lat: 60.3, long: 23.7 }, datetime: at(4) },
    ])
    const last = point(23.7, 60.3)
    expect(await valuesUntil(inbox, topic, last)).toEqual([point(23.5, 60.1), point(23.6, 60.2), last])
    const later = await client.subscribe(server(), { filters: [topic], qos: 0 })
    expect(await later.inbox.first(1)).toEqual([
      { topic, payload: await latestText(thing, '$geo'), qos: 0, retain: true },
    ])
  })

  it('with a persistent session gets the changes that it missed', async () => {
    const thing = await createThing(server())
    const topic = `things/${thing.thingToken}/values/$settings`
    const subscribing = { filters: [topic], qos: 1, username: thing.thingToken, clientId: 'away' } as const
    await (await client.subscribe(server(), subscribing)).leave()
    await writeInTurn(thing, settingsEdits)
    const { inbox } = await client.subscribe(server(), subscribing)
    await writeInTurn(thing, [{ key: '$settings.last', value: true }])
    const last = { ...settingsDocuments.at(-1), last: true }
    await valuesUntil(inbox, topic, last)
    const live = inbox.messages.filter(({ retain }) => !retain).map(recordValue)
    expect(live).toEqual([...settingsDocuments, last])
  })
})
