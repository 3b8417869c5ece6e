import type { IClientOptions, MqttClient } from 'mqtt'
import { describe, expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { connectMqttJs, type Transport } from './mqtt-js.ts'
import { bodies, body, storedValues, valuesOnceStored, valuesTo } from './stored.ts'

const server = serverOfTests()
const transports: readonly Transport[] = ['TCP', 'WebSocket']
/** MQTT knows no password without a username. */
const credential = ({ thingToken }: Thing) => ({ username: 'device', password: thingToken })
const writeTopic = ({ thingToken }: Thing) => `things/${thingToken}/write`

const connect = async (transport: Transport, options: IClientOptions = {}) =>
  (await connectMqttJs(server(), transport, options)).client

/** Breaks the connection under the client, which knows nothing of it. */
function breakConnection(client: MqttClient): void {
  client.stream.destroy()
}

describe.each(transports)('mqtt.js over %s', transport => {
  it.each([0, 1, 2] as const)('writes in order at QoS %i', async qos => {
    const thing = await createThing(server())
    const client = await connect(transport)
    await Promise.all(bodies('n', 300).map(text => client.publishAsync(writeTopic(thing), text, { qos })))
    expect(await valuesOnceStored(server(), thing, 'n', 300)).toEqual(valuesTo(300))
  })

  it('writes in order at all QoS together', async () => {
    const thing = await createThing(server())
    const client = await connect(transport, { username: thing.thingToken })
    const publish = (text: string, n: number) =>
      client.publishAsync(writeTopic(thing), text, { qos: n % 3 === 0 ? 1 : n % 3 === 1 ? 2 : 0 })
    await Promise.all(bodies('n', 301).map(publish))
    expect(await valuesOnceStored(server(), thing, 'n', 301)).toEqual(valuesTo(301))
  })

  it('speaks MQTT 3.1', async () => {
    const thing = await createThing(server())
    const options = { protocolId: 'MQIsdp', protocolVersion: 3, clientId: 'old' } as const
    const client = await connect(transport, { ...options, username: thing.thingToken })
    await client.publishAsync(writeTopic(thing), body('n', 1), { qos: 2 })
    expect(await storedValues(server(), thing, 'n')).toEqual([1])
  })

  it('is told on the errors topic of a write that was refused, and stays connected', async () => {
    const thing = await createThing(server())
    const client = await connect(transport, credential(thing))
    const topic = `things/${thing.thingId}/errors`
    await client.subscribeAsync(topic, { qos: 1 })
    const message = new Promise<[string, Buffer]>(resolve => {
      client.once('message', (...received) => resolve([received[0], received[1]]))
    })
    await client.publishAsync(writeTopic(thing), body('not a key', 1), { qos: 1 })
    const [messageTopic, payload] = await message
    expect(messageTopic).toBe(topic)
    expect(JSON.parse(payload.toString())).toMatchObject({
      door: 'mqtt',
      errors: [{ reason: 'invalid_key' }],
    })
    await client.publishAsync(writeTopic(thing), body('n', 1), { qos: 1 })
    expect(await storedValues(server(), thing, 'n')).toEqual([1])
  })

  it('that loses its connection again and again has its writes at QoS 2 stored once', async () => {
    const thing = await createThing(server())
    const client = await connect(transport, { clean: false, clientId: 'twice', ...credential(thing) })
    let acked = 0
    const publish = async (text: string) => {
      await client.publishAsync(writeTopic(thing), text, { qos: 2 })
      if (++acked % 40 === 0) breakConnection(client)
    }
    await Promise.all(bodies('n', 200).map(publish))
    const values = (await storedValues(server(), thing, 'n')) as number[]
    expect(values.toSorted((a, b) => a - b)).toEqual(valuesTo(200))
  })

  it('that loses its connection again and again has its writes at QoS 1 with an id stored once', async () => {
    const thing = await createThing(server())
    const client = await connect(transport, { clean: false, clientId: 'again', ...credential(thing) })
    let acked = 0
    const publish = async (value: number) => {
      const text = JSON.stringify({ values: [{ key: 'n', value }], id: `write ${value}` })
      await client.publishAsync(writeTopic(thing), text, { qos: 1 })
      if (++acked % 40 === 0) breakConnection(client)
    }
    await Promise.all(valuesTo(200).map(publish))
    const values = (await storedValues(server(), thing, 'n')) as number[]
    expect(values.toSorted((a, b) => a - b)).toEqual(valuesTo(200))
  })

  it.each([0, 1, 2] as const)('has its will at QoS %i written when its connection breaks', async qos => {
    const thing = await createThing(server())
    const will = { topic: writeTopic(thing), payload: body('will', 'gone'), qos, retain: false }
    const client = await connect(transport, { will, reconnectPeriod: 0 })
    breakConnection(client)
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })

  it('that says goodbye has no will written', async () => {
    const thing = await createThing(server())
    const will = { topic: writeTopic(thing), payload: body('state', 'gone'), qos: 1, retain: false } as const
    const first = await connect(transport, { will })
    await first.publishAsync(writeTopic(thing), body('state', 'here'), { qos: 1 })
    await first.endAsync()
    const second = await connect(transport)
    await second.publishAsync(writeTopic(thing), body('state', 'back'), { qos: 1 })
    expect(await storedValues(server(), thing, 'state')).toEqual(['here', 'back'])
  })

  it('with version 5 is refused with return code 1', async () => {
    const connecting = connect(transport, { protocolVersion: 5, reconnectPeriod: 0 })
    await expect(connecting).rejects.toMatchObject({ code: 1 })
  })

  it('with a token that no thing has is refused with return code 4', async () => {
    const connecting = connect(transport, { username: 'A'.repeat(43), reconnectPeriod: 0 })
    await expect(connecting).rejects.toMatchObject({ code: 4 })
  })
})
