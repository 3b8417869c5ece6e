import type { ErrorWithReasonCode, IClientOptions, MqttClient } from 'mqtt'
import { describe, expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { connectMqttJs, persistent } from './mqtt-js.ts'
import { bodies, body, storedValues, valuesOnceStored, valuesTo } from './stored.ts'

const server = serverOfTests()
const kinds = (['TCP', 'WebSocket'] as const).flatMap(transport =>
  ([4, 5] as const).map(version => ({ transport, version })),
)
/** MQTT knows no password without a username. */
const credential = ({ thingToken }: Thing) => ({ username: 'device', password: thingToken })
const writeTopic = ({ thingToken }: Thing) => `things/${thingToken}/write`

/** Breaks the connection under the client, which knows nothing of it. */
function breakConnection(client: MqttClient): void {
  client.stream.destroy()
}

describe.each(kinds)('mqtt.js over $transport in version $version', ({ transport, version }) => {
  const connect = async (options: IClientOptions = {}) =>
    (await connectMqttJs(server(), transport, { protocolVersion: version, ...options })).client

  it.each([0, 1, 2] as const)('writes in order at QoS %i', async qos => {
    const thing = await createThing(server())
    const client = await connect()
    // As many at QoS 2 as version 5 allows on their way: mqtt.js does not look at the server's Receive Maximum.
    await Promise.all(bodies('n', 256).map(text => client.publishAsync(writeTopic(thing), text, { qos })))
    expect(await valuesOnceStored(server(), thing, 'n', 256)).toEqual(valuesTo(256))
  })

  it('writes in order at all QoS together', async () => {
    const thing = await createThing(server())
    const client = await connect({ username: thing.thingToken })
    const publish = (text: string, n: number) =>
      client.publishAsync(writeTopic(thing), text, { qos: n % 3 === 0 ? 1 : n % 3 === 1 ? 2 : 0 })
    await Promise.all(bodies('n', 301).map(publish))
    expect(await valuesOnceStored(server(), thing, 'n', 301)).toEqual(valuesTo(301))
  })

  it('is told on the errors topic of a write that was refused, and stays connected', async () => {
    const thing = await createThing(server())
    const client = await connect(credential(thing))
    const topic = `things/${thing.thingId}/errors`
    await client.subscribeAsync(topic, { qos: 1 })
    const message = new Promise<[string, Buffer]>(resolve => {
      client.once('message', (...received) => resolve([received[0], received[1]]))
    })
    const refused = client.publishAsync(writeTopic(thing), body('not a key', 1), { qos: 1 })
    if (version === 5) await expect(refused).rejects.toMatchObject({ code: 131 })
    else await refused
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
    const client = await connect({ ...persistent('twice', version), ...credential(thing) })
    let acked = 0
    const publish = async (text: string) => {
      // One whose PUBCOMP is lost with the connection resends PUBREL, and is told that the id is known no more: it is stored.
      await client.publishAsync(writeTopic(thing), text, { qos: 2 }).catch((error: ErrorWithReasonCode) => {
        if (version !== 5 || error.code !== 0x92) throw error
      })
      if (++acked % 40 === 0) breakConnection(client)
    }
    await Promise.all(bodies('n', 200).map(publish))
    const values = (await storedValues(server(), thing, 'n')) as number[]
    expect(values.toSorted((a, b) => a - b)).toEqual(valuesTo(200))
  })

  it('that loses its connection again and again has its writes at QoS 1 with an id stored once', async () => {
    const thing = await createThing(server())
    const client = await connect({ ...persistent('again', version), ...credential(thing) })
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
    const client = await connect({ will, reconnectPeriod: 0 })
    breakConnection(client)
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })

  it('that says goodbye has no will written', async () => {
    const thing = await createThing(server())
    const will = { topic: writeTopic(thing), payload: body('state', 'gone'), qos: 1, retain: false } as const
    const first = await connect({ will })
    await first.publishAsync(writeTopic(thing), body('state', 'here'), { qos: 1 })
    await first.endAsync()
    const second = await connect()
    await second.publishAsync(writeTopic(thing), body('state', 'back'), { qos: 1 })
    expect(await storedValues(server(), thing, 'state')).toEqual(['here', 'back'])
  })

  it('with a token that no thing has is told why it is refused', async () => {
    const connecting = connect({ username: 'A'.repeat(43), reconnectPeriod: 0 })
    await expect(connecting).rejects.toMatchObject({ code: version === 5 ? 0x86 : 4 })
  })
})

it('mqtt.js in version 5 that sends more at once than Receive Maximum is told so', async () => {
  const thing = await createThing(server())
  const options = { protocolVersion: 5, username: thing.thingToken, reconnectPeriod: 0 } as const
  const { client } = await connectMqttJs(server(), 'TCP', options)
  const told = new Promise(resolve => {
    client.once('disconnect', ({ reasonCode }) => resolve(reasonCode))
  })
  for (const text of bodies('n', 1_000)) client.publish(writeTopic(thing), text, { qos: 2 }, () => {})
  expect(await told).toBe(0x93)
})

it.each(['TCP', 'WebSocket'] as const)('mqtt.js over %s speaks MQTT 3.1', async transport => {
  const thing = await createThing(server())
  const options = { protocolId: 'MQIsdp', protocolVersion: 3, clientId: 'old' } as const
  const { client } = await connectMqttJs(server(), transport, { ...options, username: thing.thingToken })
  await client.publishAsync(writeTopic(thing), body('n', 1), { qos: 2 })
  expect(await storedValues(server(), thing, 'n')).toEqual([1])
})
