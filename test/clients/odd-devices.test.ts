import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { openLossyPath } from './lossy-path.ts'
import { connectMqttJs } from './mqtt-js.ts'
import { pahoDevice } from './paho.ts'
import { Program } from './program.ts'
import { body, storedValues, valuesOnceStored } from './stored.ts'

const server = serverOfTests()
const mosquittoPub = { command: 'mosquitto_pub', debianPackage: 'mosquitto-clients' }
const writeTopic = ({ thingId }: Thing) => `things/${thingId}/write`
const foreign = 'homeassistant/sensor/boat/config'

const reasonsOf = async ({ thingToken }: Thing): Promise<string[]> => {
  const response = await fetch(`${server().url}/v2/things/${thingToken}/errors`)
  return ((await response.json()) as { reason: string }[]).map(({ reason }) => reason)
}

/** Sends one message at QoS 2 in a persistent session, under packet id 1. */
function restartedDevice(port: number, { thingToken, thingId }: Thing, value: number): Program {
  const session = ['-i', 'board', '-c', '-u', 'device', '-P', thingToken, '-q', '2']
  const message = ['-t', `things/${thingId}/write`, '-m', body('n', value)]
  return new Program(mosquittoPub, ['-h', '127.0.0.1', '-p', String(port), ...session, ...message])
}

describe('a device that restarts before it has its PUBREC, and counts its packet ids from 1 again', () => {
  it('has both of its readings stored, with mosquitto_pub', async () => {
    const port = Number(new URL(server().mqttUrl).port)
    const thing = await createThing(server())
    const path = await openLossyPath('mqtt', port, { 'pubrec 1': 'silent' })
    restartedDevice(path.port, thing, 1)
    expect(await valuesOnceStored(server(), thing, 'n', 1)).toEqual([1])
    await path.close()
    expect(await restartedDevice(port, thing, 2).exited).toMatchObject({ code: 0 })
    expect(await storedValues(server(), thing, 'n')).toEqual([1, 2])
  })
})

describe('a client that publishes on topics of other services too', () => {
  it('stays connected and has its writes stored, with mqtt.js', async () => {
    const thing = await createThing(server())
    const { client } = await connectMqttJs(server(), 'TCP', { username: thing.thingToken })
    let closes = 0
    client.on('close', () => closes++)
    onTestFinished(() => void client.removeAllListeners('close'))
    for (const qos of [0, 1, 2] as const) await client.publishAsync(foreign, 'no write', { qos })
    await client.publishAsync(writeTopic(thing), body('n', 1), { qos: 1 })
    expect(await storedValues(server(), thing, 'n')).toEqual([1])
    expect(closes).toBe(0)
    expect(await reasonsOf(thing)).toEqual(['not_a_write_topic', 'not_a_write_topic', 'not_a_write_topic'])
  })

  it.each([0, 1, 2])('ends well at QoS %i, with paho', async qos => {
    const thing = await createThing(server())
    const device = { server: server(), transport: 'tcp', qos, username: thing.thingToken } as const
    const elsewhere = await pahoDevice({ ...device, topic: foreign }, ['no write', 'no write'])
    expect(await elsewhere.exited).toMatchObject({ code: 0, output: 'done\n' })
    const writing = await pahoDevice({ ...device, topic: writeTopic(thing) }, [body('n', 1)])
    expect(await writing.exited).toMatchObject({ code: 0, output: 'done\n' })
    expect(await valuesOnceStored(server(), thing, 'n', 1)).toEqual([1])
    expect(await reasonsOf(thing)).toEqual(['not_a_write_topic', 'not_a_write_topic'])
  })

  it.each(['0', '1', '2'])('ends well at QoS %s, with mosquitto_pub', async qos => {
    const thing = await createThing(server())
    const { hostname, port } = new URL(server().mqttUrl)
    const args = [
      '-h',
      hostname,
      '-p',
      port,
      '-u',
      thing.thingToken,
      '-q',
      qos,
      '-t',
      foreign,
      '-m',
      'no write',
    ]
    expect(await new Program(mosquittoPub, args).exited).toMatchObject({ code: 0 })
    await expect.poll(() => reasonsOf(thing)).toEqual(['not_a_write_topic'])
  })

  it('is told why its CONNECT is refused for a will elsewhere, on the list of its thing, with paho', async () => {
    const thing = await createThing(server())
    const device = { server: server(), transport: 'tcp', qos: 1, username: thing.thingToken } as const
    const refused = await pahoDevice({ ...device, topic: foreign, will: 'gone' }, [])
    expect(await refused.exited).toMatchObject({ code: 1, output: expect.stringContaining('refused') })
    expect(await reasonsOf(thing)).toEqual(['connect_refused'])
  })
})
