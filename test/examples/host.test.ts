import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { type ConnectOptions, isMessageOn, type MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type RunningExample, runExample } from './run-example.ts'

/** examples/host as a process: it imports the built package by its name, as a user does. */

const adminKey = 'the-plant-has-an-admin-key-of-its-own'
const ended: (() => Promise<void>)[] = []
let dataDir = ''
let plant: RunningExample

beforeAll(async () => {
  dataDir = await temporaryDirectory(remove => ended.push(remove))
  plant = await start()
})

afterAll(async () => {
  await plant.stop()
  for (const end of ended) await end()
})

describe('a host with topics of its own', () => {
  test.each([0, 1, 2] as const)('carries its messages at QoS %i', async qos => {
    const panel = await connectAs('panel')
    expect(await panel.subscribe('plant/+/state', 2)).toBe(2)
    const controller = await connectAs('controller')
    await controller.publish('plant/press/state', `running at ${qos}`, { qos })
    expect(await panel.next(isMessageOn('plant/press/state'))).toMatchObject({
      payload: Buffer.from(`running at ${qos}`),
      qos,
      retain: false,
    })
  })

  test('keeps its retained messages', async () => {
    const controller = await connectAs('controller')
    await controller.publish('plant/saw/limit', '40', { retain: true })
    const panel = await connectAs('panel')
    await panel.subscribe('plant/saw/#')
    expect(await panel.next(isMessageOn('plant/saw/limit'))).toMatchObject({
      payload: Buffer.from('40'),
      retain: true,
    })
  })

  test('still refuses by its own rules', async () => {
    const stranger = await connect({ username: 'stranger', password: 'guess' })
    expect(stranger.connack.returnCode).toBe(5)
    const panel = await connectAs('panel')
    expect(await panel.subscribe('office/#')).toBe(128)
    await expect(panel.publish('plant/press/state', 'a panel does not publish')).rejects.toThrow()
  })

  test('has its own route beside those of the things', async () => {
    const controller = await connectAs('controller')
    await controller.publish('plant/drill/state', 'idle')
    expect(await machines()).toMatchObject({ 'plant/drill/state': 'idle' })
    expect((await fetch(`${url()}/plant/unknown`)).status).toBe(404)
  })
})

describe('a thing at that host', () => {
  test('has what it wrote through both doors stored in one time line', async () => {
    const { thing, client } = await connectThing()
    expect((await write(address(), thing, { values: [depth(1)] })).status).toBe(201)
    await client.publish(`things/${thing.thingToken}/write`, { values: [depth(2)] }, { qos: 1 })
    await client.publish(`things/${thing.thingToken}/write`, { values: [depth(3)] }, { qos: 2 })
    expect((await write(address(), thing, { values: [depth(4)] })).status).toBe(201)
    expect((await readAll(address(), thing, 'depth')).map(({ value }) => value)).toEqual([4, 3, 2, 1])
  })

  test('sees what is there and what comes through both doors, as the panel does with its token', async () => {
    const { thing, client } = await connectThing()
    const panel = await connectAs('panel')
    const topic = `things/${thing.thingToken}/values/depth`
    await write(address(), thing, { values: [depth(1)] })
    for (const subscriber of [client, panel]) expect(await subscriber.subscribe(topic)).toBe(1)
    await client.publish(`things/${thing.thingToken}/write`, { values: [depth(2)] }, { qos: 2 })
    await write(address(), thing, { values: [depth(3)] })
    for (const subscriber of [client, panel]) {
      for (const value of [1, 2, 3]) {
        const { payload, retain } = await subscriber.next(isMessageOn(topic))
        expect(JSON.parse(payload.toString())).toMatchObject({ key: 'depth', value })
        expect(retain).toBe(value === 1)
      }
    }
  })

  test('is seen by the host itself', async () => {
    const { thing, client } = await connectThing()
    await client.subscribe(`things/${thing.thingId}/values/depth`)
    await write(address(), thing, { values: [depth(6)] })
    // Live messages may come behind the acknowledgement.
    await client.next(isMessageOn(`things/${thing.thingId}/values/depth`))
    const readings = (await (await fetch(`${url()}/plant/readings`)).json()) as Record<string, unknown>
    expect(readings[thing.thingId]).toEqual({ depth: 6 })
  })

  test('can neither read nor write the topics of the host', async () => {
    const { client } = await connectThing()
    expect(await client.subscribe('plant/#')).toBe(128)
    await client.publish('plant/press/state', 'from a thing')
    expect(Object.values(await machines())).not.toContain('from a thing')
  })

  test('is not seen by the clients of the host', async () => {
    const { thing, client } = await connectThing()
    const panel = await connectAs('panel')
    await panel.subscribe('plant/#')
    expect(await panel.subscribe(`things/${thing.thingId}/#`)).toBe(128)
    expect(await panel.subscribe('things/#')).toBe(128)
    await client.publish(`things/${thing.thingToken}/write`, { values: [depth(1)] })
    await client.publish(`things/${thing.thingToken}/write`, { values: [] })
    await panel.ping()
    const topics = panel.received.flatMap(packet => (packet.cmd === 'publish' ? [packet.topic] : []))
    expect(topics.filter(topic => !topic.startsWith('plant/'))).toEqual([])
  })
})

test('the host ends in good order and finds everything again', async () => {
  const { thing, client } = await connectThing()
  await client.publish(`things/${thing.thingToken}/write`, { values: [depth(5)] })
  expect(await plant.stop()).toEqual({ code: 0, stderr: '' })
  plant = await start()
  expect((await readAll(address(), thing, 'depth')).map(({ value }) => value)).toEqual([5])
})

function start(): Promise<RunningExample> {
  const args = ['--http-port', '0', '--mqtt-port', '0', '--data-dir', dataDir]
  return runExample('host/server.ts', args, /^The plant is ready at (\S+) and (\S+)$/, {
    EXAMPLE_ADMIN_KEY: adminKey,
  })
}

function url(): string {
  return plant.ready[0] ?? ''
}

function address() {
  return { url: url(), adminKey }
}

async function connect(options: ConnectOptions): Promise<MqttClient> {
  return await mqttOfTest({ url: plant.ready[1] ?? '', ...options })
}

function connectAs(user: 'controller' | 'panel'): Promise<MqttClient> {
  return connect({ username: user, password: `${user} password` })
}

async function connectThing(): Promise<{ thing: Thing; client: MqttClient }> {
  const thing = await createThing(address())
  return { thing, client: await connect({ username: thing.thingToken }) }
}

async function machines(): Promise<Record<string, string>> {
  return (await (await fetch(`${url()}/plant/machines`)).json()) as Record<string, string>
}

function depth(value: number) {
  return { key: 'depth', value, datetime: `2026010100000${value}` }
}
