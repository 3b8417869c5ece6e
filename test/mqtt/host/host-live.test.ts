import { beforeEach, describe, expect, test } from 'vitest'
import { attachThings } from '../../../src/mqtt/index.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { messagesOf } from '../messages.ts'
import { connectUser, depth, type OwnHost, openOwnHost } from './own-host.ts'

/** Live messages on the broker of a host that has topics of its own. */

let host: OwnHost
let url: string
beforeEach(async () => {
  host = await openOwnHost()
  attachThings(host.broker, host.things)
  url = await host.serve()
})

/** Waits until the client has so many messages. */
async function messages(client: MqttClient, count: number) {
  const seen = () => messagesOf(client).length
  while (seen() < count) await client.next(({ cmd }) => cmd === 'publish')
  await client.ping()
  return messagesOf(client).map(({ topic, payload, qos, retain }) => [topic, payload, qos, retain] as const)
}

function write(client: MqttClient, value: number): Promise<void> {
  return client.publish(`things/${host.thingToken}/write`, depth(value))
}

describe('a user of the host', () => {
  test('who knows a token sees that thing live and retained, beside the topics of the host', async () => {
    const user = await connectUser(url, 'panel')
    await write(user, 1)
    const topic = `things/${host.thingToken}/values/depth`
    expect(
      await user.subscribeAll(['plant/#', topic, `things/${host.thingId}/values/#`, 'closed/door']),
    ).toEqual([1, 1, 128, 128])
    await messages(user, 1)
    await user.publish('plant/press', 'on', { retain: true })
    await messages(user, 2)
    await write(user, 2)
    const seen = await messages(user, 3)
    const value = (depth: number) =>
      `{"key":"depth","value":${depth},"datetime":"2026-01-01T00:00:0${depth}.000Z"}`
    expect(seen).toEqual([
      [topic, value(1), 1, true],
      ['plant/press', 'on', 1, false],
      [topic, value(2), 1, false],
    ])
    expect(
      new Set(user.received.flatMap(({ cmd, messageId }) => (cmd === 'publish' ? [messageId] : []))).size,
    ).toBe(3)
    const later = await connectUser(url, 'later')
    await later.subscribeAll(['plant/#', topic])
    const retained = await messages(later, 2)
    expect(retained.map(([topic, payload, , retain]) => [topic, payload, retain]).sort()).toEqual([
      ['plant/press', 'on', true],
      [topic, value(2), true],
    ])
  })

  test('cannot put a message on a topic of a thing, nor see what the host itself puts there', async () => {
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    await thing.subscribe(`things/${host.thingId}/#`)
    const user = await connectUser(url, 'panel')
    await user.subscribe(`things/${host.thingToken}/values/depth`)
    await user.publish(`things/${host.thingToken}/values/depth`, 'forged', { retain: true })
    await new Promise<void>((resolve, reject) => {
      const packet = {
        cmd: 'publish',
        topic: `things/${host.thingId}/values/depth`,
        payload: 'forged',
      } as const
      host.broker.publish({ ...packet, qos: 1, dup: false, retain: true }, error => {
        if (error) reject(error)
        else resolve()
      })
    })
    await write(user, 3)
    const topics = (await messages(user, 1)).map(([topic, payload]) => [topic, JSON.parse(payload).value])
    expect(topics).toEqual([[`things/${host.thingToken}/values/depth`, 3]])
    await thing.ping()
    expect(messagesOf(thing).filter(({ payload }) => payload === 'forged')).toEqual([])
    const later = await mqttOfTest({ url: url, username: host.thingToken })
    await later.subscribe(`things/${host.thingId}/values/+`)
    const seen = await messages(later, 1)
    expect(seen.map(([, payload, , retain]) => [JSON.parse(payload).value, retain])).toEqual([[3, true]])
  })
})

describe('detach()', () => {
  test('ends the live messages of those who stay, and leaves no snapshot open', async () => {
    const other = await openOwnHost()
    const detach = attachThings(other.broker, other.things)
    const address = await other.serve()
    const user = await connectUser(address, 'panel')
    await user.subscribeAll(['plant/#', `things/${other.thingToken}/values/depth`])
    await user.publish(`things/${other.thingToken}/write`, depth(1))
    await messages(user, 1)
    await detach()
    const { ingest } = other.things
    const body = Buffer.from(JSON.stringify(depth(2)))
    await ingest.write({ thingId: other.thingId, door: 'http', body, options: {} })
    await user.publish('plant/press', 'on')
    const seen = await messages(user, 2)
    expect(seen.map(([topic]) => topic)).toEqual([`things/${other.thingToken}/values/depth`, 'plant/press'])
  })

  test('leaves what a session misses while it is detached to the next attachThings()', async () => {
    const other = await openOwnHost()
    const detach = attachThings(other.broker, other.things)
    const session = { clientId: 'board', clean: false, username: other.thingToken }
    const first = await mqttOfTest({ url: await other.serve(), ...session })
    await first.subscribe(`things/${other.thingId}/values/depth`)
    await first.disconnect()
    await detach()
    const body = Buffer.from(JSON.stringify(depth(4)))
    await other.things.ingest.write({ thingId: other.thingId, door: 'http', body, options: {} })
    attachThings(other.broker, other.things)
    const second = await mqttOfTest({ url: await other.serve(), ...session })
    expect(second.connack.sessionPresent).toBe(true)
    const missed = (await messages(second, 1)).filter(([, , , retain]) => !retain)
    expect(missed.map(([, payload]) => JSON.parse(payload).value)).toEqual([4])
  })
})
