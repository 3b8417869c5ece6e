import { describe, expect, it } from 'vitest'
import { ask, type Session, type Thing } from '../helpers/http-client.ts'
import type { MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest, serverOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { HomeAssistant, matches, statusTopic } from './home-assistant.ts'

/** A house of 120 devices around Home Assistant, which is here by its packets. */

const environment = { THINGWIRE_TOPICS: 'homeassistant/#,tele/#,zigbee2mqtt/#' }
const deviceCount = 120
const messageCount = 300
const everyQoS = [0, 1, 2] as const
const grants = ['homeassistant/#', 'tele/#', 'zigbee2mqtt/#'].flatMap(filter =>
  ['read', 'write'].map(access => ({ filter, access })),
)

const ids = Array.from({ length: deviceCount }, (_, n) => `device${n}`)
const configTopic = (id: string, n: number) => `homeassistant/${n % 2 ? 'sensor' : 'switch'}/${id}/config`
const plainTopics = [
  ...ids.map(id => `tele/${id}/STATE`),
  ...ids.map(id => `tele/${id}/LWT`),
  ...['zigbee2mqtt/bridge/state', 'zigbee2mqtt/lamp', statusTopic],
]
const wildcards = [
  ...['homeassistant/+/+/config', 'homeassistant/#', 'tele/+/STATE', 'tele/#'],
  ...['zigbee2mqtt/+', 'zigbee2mqtt/#'],
]
const filters = [...plainTopics, ...wildcards]

interface Sent {
  readonly topic: string
  readonly payload: string
  readonly retain: boolean
}

interface House {
  readonly server: ServerProcess
  /** Of Home Assistant. */
  readonly password: string
  readonly tokens: readonly string[]
}

async function build(server: ServerProcess): Promise<House> {
  const body = { things: [], access: 'read', topics: grants }
  const { sessionToken } = await ask<Session>(server, 'POST', '/v2/admin/sessions', body)
  const tokens: string[] = []
  for (const _ of ids)
    tokens.push((await ask<Thing>(server, 'POST', '/v2/admin/things', { topics: grants })).thingToken)
  return { server, password: sessionToken, tokens }
}

/** Each device on a connection of its own, every other one in version 5. */
function connectDevices({ server, tokens }: House): Promise<MqttClient[]> {
  return Promise.all(
    tokens.map((username, n) =>
      mqttOfTest({ url: server.mqttUrl, protocolVersion: n % 2 ? 5 : 4, clientId: `device${n}`, username }),
    ),
  )
}

/** What every device says of itself when it connects. */
async function announce(devices: readonly MqttClient[]): Promise<readonly Sent[]> {
  const sent = ids.flatMap((id, n) => [
    { topic: configTopic(id, n), payload: `config of ${id}`, retain: true },
    { topic: `tele/${id}/LWT`, payload: `${id} is online`, retain: true },
  ])
  await Promise.all(
    sent.map(({ topic, payload, retain }, place) =>
      devices[place >> 1]?.publish(topic, payload, { retain, qos: 1 }),
    ),
  )
  return sent
}

/** Messages of all devices at every QoS. @returns them, each with a text of its own */
async function publish(devices: readonly MqttClient[], round: string): Promise<readonly Sent[]> {
  const topicOf = (n: number): string => {
    const id = ids[n % deviceCount] ?? ''
    if (n % 10 === 7) return 'zigbee2mqtt/lamp'
    if (n % 10 === 8) return 'zigbee2mqtt/lamp/availability'
    if (n % 10 === 9) return configTopic(id, n)
    return n % 10 === 6 ? `tele/${id}/SENSOR` : `tele/${id}/STATE`
  }
  const sent = Array.from({ length: messageCount }, (_, n): Sent => {
    return { topic: topicOf(n), payload: `${round} ${n}`, retain: false }
  })
  await Promise.all(
    sent.map(({ topic, payload }, n) =>
      devices[n % deviceCount]?.publish(topic, payload, { qos: everyQoS[n % 3] ?? 0 }),
    ),
  )
  // Nothing says that a message at QoS 0 is dealt with but the answer to what comes behind it.
  await Promise.all(devices.map(device => device.ping()))
  return sent
}

/** For each filter the messages that its handler has to be called with. */
function expectedCalls(sent: readonly Sent[]): Record<string, string[]> {
  const shown = ({ topic, payload, retain }: Sent) => `${topic} ${payload}${retain ? ' retained' : ''}`
  return Object.fromEntries(
    filters.map(filter => [
      filter,
      sent
        .filter(({ topic }) => matches(filter, topic))
        .map(shown)
        .toSorted(),
    ]),
  )
}

/** For each filter what its handler was called with. */
async function calls(homeAssistant: HomeAssistant, expected: Record<string, string[]>) {
  const count = Object.values(expected).reduce((sum, { length }) => sum + length, 0)
  await homeAssistant.untilCalled(count)
  return Object.fromEntries(
    filters.map(filter => [
      filter,
      homeAssistant
        .callsOf(filter)
        .map(({ topic, payload, retain }) => `${topic} ${payload}${retain ? ' retained' : ''}`)
        .toSorted(),
    ]),
  )
}

/** Home Assistant connects, and the house goes on around it. @param known what is retained @param round names the messages */
async function live(house: House, devices: readonly MqttClient[], known: readonly Sent[], round: string) {
  const homeAssistant = await HomeAssistant.connect(house.server, house.password)
  expect(homeAssistant.client.connack).toMatchObject({ reasonCode: 0, sessionPresent: false })
  const granted = await homeAssistant.subscribe(filters, 1)
  expect(granted).toEqual(filters.map(() => 1))
  expect(plainTopics).toHaveLength(243)
  const shown = expectedCalls(known)
  expect(await calls(homeAssistant, shown)).toEqual(shown)
  homeAssistant.clear()

  await homeAssistant.client.publish(statusTopic, 'online', { retain: true })
  const sent = await publish(devices, round)
  const expected = expectedCalls([{ topic: statusTopic, payload: 'online', retain: false }, ...sent])
  expect(await calls(homeAssistant, expected)).toEqual(expected)
  return homeAssistant
}

describe('Home Assistant', () => {
  it('calls every handler once for every message that it matches, after a restart of the server too', async () => {
    const dataDir = await temporaryDirectory()
    const first = await serverOfTest({ dataDir, environment })
    const house = await build(first)
    const devices = await connectDevices(house)
    const announced = await announce(devices)
    await live(house, devices, announced, 'before')

    await first.stop()
    const again = { ...house, server: await serverOfTest({ dataDir, environment }) }
    const back = await connectDevices(again)
    // The devices have not announced themselves again: what is retained is of before.
    const status = { topic: statusTopic, payload: 'online', retain: true }
    const homeAssistant = await live(again, back, [...announced, status], 'after')

    // It connects again, as it does when its own connection breaks.
    await homeAssistant.client.destroy()
    await expect.poll(() => retainedStatus(again)).toBe('offline')
    await live(again, back, [...announced, { ...status, payload: 'offline' }], 'again')
    expect(await retainedStatus(again)).toBe('online')
  })

  it('has more topics granted than it puts into one SUBSCRIBE', async () => {
    const server = await serverOfTest({ environment })
    const body = { things: [], access: 'read', topics: grants }
    const { sessionToken } = await ask<Session>(server, 'POST', '/v2/admin/sessions', body)
    const homeAssistant = await HomeAssistant.connect(server, sessionToken)
    const topics = Array.from({ length: 1_203 }, (_, n) => `tele/${n}/STATE`)
    expect(await homeAssistant.subscribe([...topics, 'tele/#'], 0)).toEqual([...topics, '#'].map(() => 0))
    await homeAssistant.client.publish('tele/1202/STATE', 'on')
    await homeAssistant.untilCalled(2)
    const call = { topic: 'tele/1202/STATE', payload: 'on', retain: false }
    expect([homeAssistant.callsOf('tele/1202/STATE'), homeAssistant.callsOf('tele/#')]).toEqual([
      [call],
      [call],
    ])
    expect(homeAssistant.calls).toBe(2)
  })
})

/** What whoever asks now is shown of Home Assistant. */
async function retainedStatus({ server, password }: House): Promise<string> {
  const reader = await mqttOfTest({ url: server.mqttUrl, username: 'x', password })
  await reader.subscribe(statusTopic)
  const { payload } = await reader.next(
    (packet): packet is Extract<typeof packet, { cmd: 'publish' }> => packet.cmd === 'publish',
  )
  await reader.disconnect()
  return String(payload)
}
