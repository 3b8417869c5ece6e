import { connectAsync } from 'mqtt'
import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type Session, type Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { liveClients } from './clients.ts'
import { mosquittoPub } from './mosquitto.ts'
import { publishByMqttJs } from './mqtt-js.ts'
import { pahoDevice } from './paho.ts'

/** Topics beside those of things, as programs use them that nobody here wrote. */

const server = serverOfTests({ environment: { THINGWIRE_TOPICS: 'house/#' } })
const everyQoS = [0, 1, 2] as const
const count = 100
const lines = Array.from({ length: count }, (_, n) => `line ${n}`)

const grants = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]
let thing: Thing
let password: string

beforeAll(async () => {
  thing = await ask<Thing>(server(), 'POST', '/v2/admin/things', { topics: grants })
  const body = { things: [], access: 'read', topics: grants }
  password = (await ask<Session>(server(), 'POST', '/v2/admin/sessions', body)).sessionToken
})

const linesOn = (topic: string, qos: 0 | 1 | 2) => lines.map(payload => ({ topic, payload, qos }))

/** Each publishes the lines in order, and resolves when all are acknowledged. */
const publishers = [
  {
    name: 'mosquitto_pub',
    publish: (topic: string, qos: 0 | 1 | 2) => mosquittoPub(server(), thing.thingToken, linesOn(topic, qos)),
  },
  {
    name: 'mqtt.js',
    publish: (topic: string, qos: 0 | 1 | 2) =>
      publishByMqttJs(server(), thing.thingToken, linesOn(topic, qos)),
  },
  {
    name: 'paho',
    publish: async (topic: string, qos: number) => {
      const device = { server: server(), transport: 'tcp', qos, topic, username: thing.thingToken } as const
      expect(await (await pahoDevice(device, lines)).exited).toMatchObject({ code: 0, output: 'done\n' })
    },
  },
]

let topics = 0
const newTopic = () => `house/clients/${topics++}`

describe.each(liveClients)('$name', subscriber => {
  it.each(everyQoS)('hears every client at QoS %i, in order and once', async qos => {
    const topic = newTopic()
    const { inbox } = await subscriber.subscribe(server(), {
      filters: [`${topic}/#`],
      qos,
      password,
      username: 'x',
    })
    for (const { name, publish } of publishers) {
      await publish(`${topic}/${name}`, qos)
      const received = await inbox.until(
        ({ topic, payload }) => topic.endsWith(name) && payload === lines.at(-1),
      )
      expect(received.filter(message => message.topic.endsWith(name))).toEqual(
        lines.map(payload => ({ topic: `${topic}/${name}`, payload, qos, retain: false })),
      )
    }
  })

  it('finds what was published while it was away', async () => {
    const topic = newTopic()
    const subscribing = {
      ...{ filters: [topic], qos: 2 as const, password, username: 'x' },
      clientId: `away${topics}`,
    }
    const first = await subscriber.subscribe(server(), { ...subscribing, leavesAfter: count })
    await publishers[1]?.publish(topic, 1)
    await first.inbox.first(count)
    await first.leave()
    await publishers[1]?.publish(topic, 2)
    const second = await subscriber.subscribe(server(), { ...subscribing, leavesAfter: 2 * count })
    await publishers[1]?.publish(topic, 1)
    const received = await second.inbox.first(2 * count)
    // A client shows a message of QoS 2 when it is released, perhaps behind one of QoS 1 that came after it.
    for (const qos of [1, 2]) {
      expect(received.filter(message => message.qos === qos).map(({ payload }) => payload)).toEqual(lines)
    }
    await second.leave()
  })

  it('gets the retained message and the will', async () => {
    const topic = newTopic()
    const client = await connectAsync(server().mqttUrl, {
      ...{ username: 'x', password },
      will: { topic: `${topic}/will`, payload: 'gone', qos: 1, retain: true },
    })
    await client.publishAsync(`${topic}/state`, 'on', { qos: 1, retain: true })
    const filters = [`${topic}/#`]
    const { inbox } = await subscriber.subscribe(server(), { filters, qos: 1, password, username: 'x' })
    expect(await inbox.first(1)).toEqual([{ topic: `${topic}/state`, payload: 'on', qos: 1, retain: true }])
    client.stream.destroy()
    const [, will] = await inbox.first(2)
    expect(will).toEqual({ topic: `${topic}/will`, payload: 'gone', qos: 1, retain: false })
    await client.endAsync(true)
  })
})
