import type { Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type ConnectOptions, publishPacket } from '../helpers/mqtt-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { bodies, body, storedValues, valuesOnceStored, valuesTo } from './stored.ts'
import { openStreamClient, type StreamClient, type Subprotocol } from './websocket-stream.ts'

const server = serverOfTests()
const subprotocols: Subprotocol[] = ['mqtt', 'mqttv3.1']
const writeTopic = ({ thingToken }: Thing) => `things/${thingToken}/write`

async function connect(subprotocol: Subprotocol, options: ConnectOptions = {}) {
  const client = openStreamClient(server().webSocketUrl, subprotocol)
  expect(await client.connect({ clientId: 'dashboard', ...options })).toMatchObject({ returnCode: 0 })
  return client
}

function publish(client: StreamClient, thing: Thing, payload: string, qos: 0 | 1 | 2, messageId: number) {
  client.send(publishPacket(writeTopic(thing), payload, { qos, messageId }))
}

async function take(client: StreamClient, count: number): Promise<Packet[]> {
  const packets: Packet[] = []
  while (packets.length < count) packets.push(await client.next())
  return packets
}

describe.each(subprotocols)('a client on websocket-stream with the subprotocol %s', subprotocol => {
  it('writes in order at all QoS together', async () => {
    const thing = await createThing(server())
    const client = await connect(subprotocol)
    const acked: number[] = []
    for (const [value, text] of bodies('n', 300).entries()) {
      const qos = value % 3 === 0 ? 0 : value % 3 === 1 ? 1 : 2
      publish(client, thing, text, qos, value + 1)
      if (qos > 0) acked.push(value + 1)
    }
    expect((await take(client, acked.length)).map(({ messageId }) => messageId)).toEqual(acked)
    expect(await storedValues(server(), thing, 'n')).toEqual(valuesTo(300))
  })

  it('finishes a write at QoS 2', async () => {
    const thing = await createThing(server())
    const client = await connect(subprotocol, { username: thing.thingToken })
    publish(client, thing, body('n', 1), 2, 7)
    expect(await client.next()).toMatchObject({ cmd: 'pubrec', messageId: 7 })
    client.send({ cmd: 'pubrel', messageId: 7 })
    expect(await client.next()).toMatchObject({ cmd: 'pubcomp', messageId: 7 })
    expect(await storedValues(server(), thing, 'n')).toEqual([1])
  })

  it('is told on the errors topic of a write that was refused', async () => {
    const thing = await createThing(server())
    const client = await connect(subprotocol)
    const topic = `things/${thing.thingToken}/errors`
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 0 }] })
    expect(await client.next()).toMatchObject({ cmd: 'suback', granted: [0] })
    publish(client, thing, 'no json', 0, 0)
    expect(await client.next()).toMatchObject({
      cmd: 'publish',
      topic,
      payload: { toString: expect.any(Function) },
    })
  })

  it('has its will written when its connection breaks', async () => {
    const thing = await createThing(server())
    const payload = Buffer.from(body('will', 'gone'))
    const client = await connect(subprotocol, {
      will: { topic: writeTopic(thing), payload, qos: 1, retain: false },
    })
    client.destroy()
    expect(await valuesOnceStored(server(), thing, 'will', 1)).toEqual(['gone'])
  })
})
