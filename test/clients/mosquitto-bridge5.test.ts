import { connectAsync, type IClientPublishOptions, type MqttClient } from 'mqtt'
import type { IPublishPacket } from 'mqtt-packet'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Changes } from '../helpers/changes.ts'
import { ask, type Session, type Thing } from '../helpers/http-client.ts'
import { ofTest, serverOfTests } from '../helpers/of-test.ts'
import { listenBetween } from '../helpers/tcp-path.ts'
import { Bridge, replaced } from './mosquitto-bridge.ts'

/** A mosquitto bridge in version 5 that carries other topics both ways. */

const server = serverOfTests({ environment: { THINGWIRE_TOPICS: 'shed/#,house/#,both/#' } })
const version5 = { protocolVersion: 5 } as const
const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`)

const properties = {
  payloadFormatIndicator: true,
  contentType: 'application/json',
  responseTopic: 'house/answers',
  correlationData: Buffer.from([0, 1, 255]),
  userProperties: { b: ['2', '1'], a: '3' },
}

/** What a client receives. */
class Received {
  readonly packets: IPublishPacket[] = []
  readonly #changes = new Changes()

  constructor(client: MqttClient) {
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

  textsOn(topic: string): string[] {
    return this.packets.filter(packet => packet.topic === topic).map(({ payload }) => String(payload))
  }
}

/** A way to the server that notes the protocol level of every CONNECT. */
async function notingPath() {
  const levels: (number | undefined)[] = []
  const path = await ofTest(
    listenBetween((near, open) => {
      const far = open(Number(new URL(server().mqttUrl).port))
      // Behind the type, the length and the name of the protocol.
      near.once('data', (bytes: Buffer) => levels.push(bytes[bytes.indexOf('MQTT') + 4]))
      near.pipe(far).pipe(near)
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
    }),
    ({ close }) => close(),
  )
  return { port: path.port, levels }
}

/** A bridge with these lines, devices of the shed, and a dashboard at the server. */
async function bridged(...topicLines: readonly string[]) {
  const topics = ['shed/#', 'house/#', 'both/#'].flatMap(filter =>
    ['read', 'write'].map(access => ({ filter, access })),
  )
  const { thingToken: token } = await ask<Thing>(server(), 'POST', '/v2/admin/things', { topics })
  const session = { things: [], access: 'read', topics }
  const { sessionToken: password } = await ask<Session>(server(), 'POST', '/v2/admin/sessions', session)
  const path = await notingPath()
  const change = (text: string) =>
    `${replaced(text, 'mqttv311', 'mqttv50')}${topicLines.map(line => `topic ${line}\n`).join('')}`
  const bridge = await Bridge.open({ token, remotePort: path.port, change })
  await bridge.start()
  const connectDashboard = async () => {
    const client = await connectAsync(server().mqttUrl, { ...version5, username: 'x', password })
    onTestFinished(() => client.endAsync(true))
    return client
  }
  const connectDevice = () => bridge.connectDevice(version5)
  return { levels: path.levels, connectDashboard, connectDevice }
}

/** A client of either side that has subscribed, with what it receives. */
async function subscribed(connecting: Promise<MqttClient>, filter: string) {
  const client = await connecting
  const received = new Received(client)
  await client.subscribeAsync(filter, { qos: 1, rap: true })
  return { client, received }
}

/** Publishes at QoS 1 until the other side has it: what is published before the bridge has subscribed does not go over. */
async function publishUntilThere(
  from: MqttClient,
  to: Received,
  { topic, text }: { topic: string; text: string },
): Promise<void> {
  const isThere = () => to.packets.some(({ payload }) => String(payload) === text)
  await expect
    .poll(async () => {
      await from.publishAsync(topic, text, { qos: 1 })
      return isThere()
    })
    .toBe(true)
}

const seen = ({ payload, retain, properties: { ...rest } = {} }: IPublishPacket) => ({
  text: String(payload),
  retain,
  properties: { ...rest, userProperties: { ...rest.userProperties } },
})

const twoWays = ['# out 1 tele/ shed/tele/', '# in 1 house/ house/']

describe('a mosquitto bridge in version 5', () => {
  it('connects at once, and carries messages both ways with their properties', async () => {
    const { levels, connectDashboard, connectDevice } = await bridged(...twoWays)
    const device = await subscribed(connectDevice(), 'house/#')
    const dashboard = await subscribed(connectDashboard(), 'shed/tele/#')
    await publishUntilThere(dashboard.client, device.received, { topic: 'house/ready', text: 'ready' })

    const options: IClientPublishOptions = { qos: 1, properties }
    await device.client.publishAsync('tele/plug/STATE', 'state', options)
    const state = await dashboard.received.message('state')
    expect(state.topic).toBe('shed/tele/plug/STATE')
    expect(seen(state)).toEqual({ text: 'state', retain: false, properties })

    await dashboard.client.publishAsync('house/lamp/set', 'set', options)
    const set = await device.received.message('set')
    expect(set.topic).toBe('house/lamp/set')
    expect(seen(set)).toEqual({ text: 'set', retain: false, properties })
    expect(levels).toEqual([5])
  })

  it('carries retained messages both ways, those too that were there before it', async () => {
    const { connectDashboard, connectDevice } = await bridged(...twoWays)
    const first = await connectDashboard()
    await first.publishAsync('house/mode', 'night', { qos: 1, retain: true, properties })
    const retained = { retain: true, properties }
    await expect
      .poll(async () => {
        const device = await subscribed(connectDevice(), 'house/mode')
        await device.client.publishAsync('house/mode/end', 'end', { qos: 1 })
        return device.received.packets.map(seen)
      })
      .toEqual([{ text: 'night', ...retained }])

    const device = await connectDevice()
    await device.publishAsync('tele/plug/LWT', 'Online', { qos: 1, retain: true, properties })
    const early = await subscribed(connectDashboard(), 'shed/tele/plug/LWT')
    expect(seen(await early.received.message('Online'))).toEqual({ text: 'Online', ...retained })
    const late = await subscribed(connectDashboard(), 'shed/tele/plug/LWT')
    expect(seen(await late.received.message('Online'))).toEqual({ text: 'Online', ...retained })
    await device.publishAsync('tele/plug/LWT', '', { qos: 1, retain: true })
    await late.received.message('')
    const after = await subscribed(connectDashboard(), 'shed/tele/plug/#')
    await publishUntilThere(device, after.received, { topic: 'tele/plug/end', text: 'end' })
    expect(after.received.packets.map(({ topic }) => topic)).not.toContain('shed/tele/plug/LWT')
  })

  it('of one topic both ways gives every message once on both sides', async () => {
    const { connectDashboard, connectDevice } = await bridged('both/# both 1')
    const device = await subscribed(connectDevice(), 'both/#')
    const dashboard = await subscribed(connectDashboard(), 'both/#')
    await publishUntilThere(dashboard.client, device.received, { topic: 'both/ready', text: 'ready' })
    for (const line of lines) await device.client.publishAsync('both/shed', line, { qos: 1 })
    for (const line of lines) await dashboard.client.publishAsync('both/house', line, { qos: 1 })
    // What came back of the lines of either side would come before the end that the other side answers with.
    await device.client.publishAsync('both/end', 'there', { qos: 1 })
    await dashboard.received.message('there')
    await dashboard.client.publishAsync('both/end', 'and back', { qos: 1 })
    await device.received.message('and back')
    await device.client.publishAsync('both/end', 'and there again', { qos: 1 })
    await dashboard.received.message('and there again')
    for (const { received } of [device, dashboard]) {
      expect(received.textsOn('both/shed')).toEqual(lines)
      expect(received.textsOn('both/house')).toEqual(lines)
    }
  })
})
