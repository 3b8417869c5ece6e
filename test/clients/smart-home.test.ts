import type { IClientOptions, MqttClient } from 'mqtt'
import type { IPublishPacket } from 'mqtt-packet'
import { beforeAll, describe, expect, it } from 'vitest'
import { Changes } from '../helpers/changes.ts'
import { ask, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { connectMqttJs } from './mqtt-js.ts'

/** Zigbee2MQTT and Node-RED in version 5 and Tasmota in 3.1.1, by their packets, on one server. */

const trees = ['zigbee2mqtt/#', 'cmnd/#', 'stat/#', 'tele/#', 'flows/#']
const server = serverOfTests({ environment: { THINGWIRE_TOPICS: trees.join() } })
const bridgeState = 'zigbee2mqtt/bridge/state'
const online = '{"state":"online"}'
const offline = '{"state":"offline"}'
/** Seconds. */
const day = 86_400
let username: string

beforeAll(async () => {
  const topics = trees.flatMap(filter => ['read', 'write'].map(access => ({ filter, access })))
  const thing = await ask<Thing>(server(), 'POST', '/v2/admin/things', { topics })
  username = thing.thingToken
})

/** A client with the packets that it has received. */
class Program {
  static async connect(options: IClientOptions): Promise<Program> {
    const { client } = await connectMqttJs(server(), 'TCP', { username, ...options })
    return new Program(client)
  }

  readonly client: MqttClient
  readonly packets: IPublishPacket[] = []
  readonly #changes = new Changes()

  private constructor(client: MqttClient) {
    this.client = client
    client.on('message', (_topic, _payload, packet) => {
      this.packets.push(packet)
      this.#changes.tell()
    })
  }

  /** The first message with this text. @throws Error if it does not come */
  async message(text: string): Promise<IPublishPacket> {
    const find = () => this.packets.find(({ payload }) => String(payload) === text)
    await this.#changes.until(() => find() !== undefined, 20_000)
    const found = find()
    if (!found) throw new Error(`"${text}" was not received`)
    return found
  }

  /** All it has, as `topic payload`, with `retained` if it was, once it has the text. */
  async shownUntil(text: string): Promise<string[]> {
    await this.message(text)
    return this.packets.map(({ topic, payload, retain }) => `${topic} ${payload}${retain ? ' retained' : ''}`)
  }
}

const zigbee2Mqtt = (options: IClientOptions = {}) =>
  Program.connect({
    ...{ protocolVersion: 5, clientId: 'zigbee2mqtt', reconnectPeriod: 0 },
    properties: { maximumPacketSize: 4_096 },
    will: { topic: bridgeState, payload: Buffer.from(offline), qos: 1, retain: true },
    ...options,
  })
const nodeRed = (clientId: string) => Program.connect({ protocolVersion: 5, clientId })
const tasmota = (name: string) =>
  Program.connect({
    ...{ protocolVersion: 4, clientId: name, reconnectPeriod: 0 },
    will: { topic: `tele/${name}/LWT`, payload: Buffer.from('Offline'), qos: 1, retain: true },
  })

/** What whoever subscribes now is shown as retained. */
async function retainedOn(filter: string): Promise<IPublishPacket[]> {
  const reader = await Program.connect({ protocolVersion: 5 })
  await reader.client.subscribeAsync(filter, { qos: 1 })
  // Retained messages come right behind SUBACK, before what is published later.
  const mark = `mark for ${reader.client.options.clientId}`
  await reader.client.subscribeAsync('flows/mark', { qos: 1 })
  await reader.client.publishAsync('flows/mark', mark, { qos: 1 })
  await reader.message(mark)
  await reader.client.endAsync()
  return reader.packets.filter(({ retain }) => retain)
}

const textsOf = (packets: readonly IPublishPacket[]) => packets.map(({ payload }) => String(payload))

describe('Zigbee2MQTT', () => {
  it('has its retained messages shown until they expire', async () => {
    const { client } = await zigbee2Mqtt()
    const publish = (topic: string, text: string, messageExpiryInterval: number) =>
      client.publishAsync(topic, text, { qos: 1, retain: true, properties: { messageExpiryInterval } })
    await publish('zigbee2mqtt/lamp', 'stays', day)
    await publish('zigbee2mqtt/button', 'goes', 1)
    await expect.poll(async () => textsOf(await retainedOn('zigbee2mqtt/button'))).toEqual([])
    const [stays, ...others] = await retainedOn('zigbee2mqtt/lamp')
    expect(others).toEqual([])
    expect(String(stays?.payload)).toBe('stays')
    // At least the second of the other message is gone.
    expect(stays?.properties?.messageExpiryInterval).toBeLessThan(day)
    expect(stays?.properties?.messageExpiryInterval).toBeGreaterThan(day - 300)
  })

  it('is not sent what it does not take, and others are', async () => {
    const bridge = await zigbee2Mqtt()
    let closes = 0
    bridge.client.on('close', () => closes++)
    const flow = await nodeRed('flow')
    for (const { client } of [bridge, flow]) await client.subscribeAsync('zigbee2mqtt/#', { qos: 1 })
    const large = 'x'.repeat(5_000)
    for (const text of ['before', large, 'last'])
      await flow.client.publishAsync('zigbee2mqtt/bridge/request/large', text, { qos: 1 })
    await bridge.message('last')
    await flow.message('last')
    const live = ({ packets }: Program) => textsOf(packets.filter(({ topic }) => topic.endsWith('/large')))
    expect(live(bridge)).toEqual(['before', 'last'])
    expect(live(flow)).toEqual(['before', large, 'last'])
    expect(closes).toBe(0)
  })

  it('that is lost has its will retained in the place of its state', async () => {
    const { client } = await zigbee2Mqtt()
    await client.publishAsync(bridgeState, online, { qos: 1, retain: true })
    const flow = await nodeRed('watcher')
    await flow.client.subscribeAsync(bridgeState, { qos: 1 })
    await flow.message(online)
    client.stream.destroy()
    expect(await flow.message(offline)).toMatchObject({ topic: bridgeState, retain: false })
    expect(textsOf(await retainedOn(bridgeState))).toEqual([offline])
  })
})

describe('Node-RED', () => {
  it('asks another client and has its answer, with Response Topic and Correlation Data', async () => {
    const [asking, answering] = [await nodeRed('asking'), await nodeRed('answering')]
    await answering.client.subscribeAsync('flows/requests', { qos: 1 })
    await asking.client.subscribeAsync('flows/answers/1', { qos: 1 })
    answering.client.on('message', (_topic, payload, { properties = {} }) => {
      const { responseTopic = '', correlationData } = properties
      answering.client.publish(responseTopic, `answer to ${payload}`, {
        ...{ qos: 1, properties: { ...(correlationData && { correlationData }) } },
      })
    })
    const questions = ['one', 'two', 'three']
    await Promise.all(
      questions.map((text, place) =>
        asking.client.publishAsync('flows/requests', text, {
          qos: 1,
          properties: { responseTopic: 'flows/answers/1', correlationData: Buffer.from([0, place, 255]) },
        }),
      ),
    )
    for (const [place, text] of questions.entries()) {
      const { properties } = await asking.message(`answer to ${text}`)
      expect(properties?.correlationData).toEqual(Buffer.from([0, place, 255]))
    }
    expect(asking.packets).toHaveLength(questions.length)
  })

  it('hears nothing of its own with No Local, and sees RETAIN as it was published', async () => {
    const [one, other] = [await nodeRed('one'), await nodeRed('other')]
    const options = { qos: 1, nl: true } as const
    await one.client.subscribeAsync({ 'flows/state/#': { ...options, rap: true } })
    await other.client.subscribeAsync({ 'flows/state/#': { ...options, rap: false } })
    for (const { client } of [one, other]) {
      const name = client.options.clientId
      await client.publishAsync('flows/state/a', `kept of ${name}`, { qos: 1, retain: true })
      await client.publishAsync('flows/state/a', `sent of ${name}`, { qos: 1 })
    }
    expect(await one.shownUntil('sent of other')).toEqual([
      'flows/state/a kept of other retained',
      'flows/state/a sent of other',
    ])
    expect(await other.shownUntil('sent of one')).toEqual([
      'flows/state/a kept of one',
      'flows/state/a sent of one',
    ])
  })
})

describe('Tasmota in 3.1.1', () => {
  it('does what Node-RED says with properties that it does not know, and all hear of it', async () => {
    const [plug, flow, bridge] = [await tasmota('plug'), await nodeRed('flow'), await zigbee2Mqtt()]
    await plug.client.subscribeAsync(['cmnd/plug/#', 'cmnd/tasmotas/#'], { qos: 1 })
    plug.client.on('message', (topic, payload) => {
      plug.client.publish(topic.replace('cmnd', 'stat'), payload, { qos: 1 })
    })
    await plug.client.publishAsync('tele/plug/LWT', 'Online', { qos: 1, retain: true })
    await flow.client.subscribeAsync(['stat/plug/+', 'tele/+/LWT', 'zigbee2mqtt/#'], { qos: 1 })
    await bridge.client.subscribeAsync('zigbee2mqtt/#', { qos: 1 })
    await flow.message('Online')

    const properties = { contentType: 'text/plain', userProperties: { flow: 'evening' } }
    await flow.client.publishAsync('cmnd/plug/POWER', 'ON', { qos: 1, properties })
    expect(await flow.message('ON')).toMatchObject({ topic: 'stat/plug/POWER', retain: false })
    expect(plug.packets.map(({ topic, payload }) => `${topic} ${payload}`)).toEqual(['cmnd/plug/POWER ON'])
    await flow.client.publishAsync('zigbee2mqtt/lamp/set', 'lamp on', { qos: 1, properties })
    const set = await bridge.message('lamp on')
    expect(set.properties).toMatchObject({ contentType: 'text/plain' })
    expect({ ...set.properties?.userProperties }).toEqual({ flow: 'evening' })
    await bridge.client.publishAsync('zigbee2mqtt/lamp', 'lamp is on', { qos: 1 })
    expect(await flow.message('lamp is on')).toMatchObject({ topic: 'zigbee2mqtt/lamp' })

    plug.client.stream.destroy()
    expect(await flow.message('Offline')).toMatchObject({ topic: 'tele/plug/LWT', retain: false })
    expect(textsOf(await retainedOn('tele/plug/LWT'))).toEqual(['Offline'])
  })
})
