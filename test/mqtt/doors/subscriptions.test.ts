import type { Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { type Thing, write } from '../../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, topicsReceived, writeTopicOf } from '../door-service.ts'

function errorsOf(ref: string): string {
  return `things/${ref}/errors`
}

async function start() {
  const service = await DoorService.start()
  const [a, b] = [await service.createThing(), await service.createThing()]
  const clients = {
    thing: () => service.connectThing(a),
    anonymous: () => service.connect(),
    admin: () => service.connect({ username: 'operator', password: service.adminKey }),
  }
  return { service, a, b, clients }
}

/** Has a write refused, and waits until the client is told. */
async function refusal(service: DoorService, thing: Thing, client: MqttClient): Promise<string> {
  await service.refuse(thing)
  return await toldOf(client)
}

/** The topic of the next refused write that the client is told of. */
async function toldOf(client: MqttClient): Promise<string> {
  const message = await client.next(isOfRefusedWrite)
  return message.cmd === 'publish' ? message.topic : ''
}

/** A refused filter is told on the same topic. */
function isOfRefusedWrite(packet: Packet): boolean {
  if (packet.cmd !== 'publish' || !packet.topic.endsWith('/errors')) return false
  return (JSON.parse(String(packet.payload)) as { reason: string }).reason !== 'subscription_refused'
}

function errorsReceived(client: MqttClient): string[] {
  return topicsReceived({ received: client.received.filter(isOfRefusedWrite) })
}

describe('a message', () => {
  it.each(['thing', 'admin'] as const)(
    'is seen by %s under the spelling of the latest subscription to its thing',
    async who => {
      const { service, a, b, clients } = await start()
      const { thingToken } = await service.things.registry.addToken(a.thingId)
      const client = await clients[who]()
      for (const ref of [a.thingToken, a.thingId, thingToken, a.thingToken]) {
        await client.subscribe(errorsOf(ref))
        expect(await refusal(service, a, client)).toBe(errorsOf(ref))
      }
      // To another thing, or a refused one, says nothing of this one. Once: of the reports of a second ten are sent.
      await client.subscribeAll([errorsOf(b.thingToken), `things/${a.thingToken}x/errors`, '#'])
      expect(await refusal(service, a, client)).toBe(errorsOf(a.thingToken))
      await client.subscribe(`things/${a.thingId}/date`)
      expect(await refusal(service, a, client)).toBe(errorsOf(a.thingId))
    },
  )

  it('is seen by an anonymous client under the latest token', async () => {
    const { service, a, clients } = await start()
    const { thingToken } = await service.things.registry.addToken(a.thingId)
    const client = await clients.anonymous()
    for (const ref of [a.thingToken, thingToken, a.thingToken]) {
      await client.subscribe(errorsOf(ref))
      await client.subscribe(errorsOf(a.thingId))
      expect(await refusal(service, a, client)).toBe(errorsOf(ref))
    }
  })

  it('is seen by the admin, who is subscribed to every thing, under the id unless spelled otherwise', async () => {
    const { service, a, b, clients } = await start()
    const admin = await clients.admin()
    await admin.subscribe('things/+/errors')
    expect(await refusal(service, a, admin)).toBe(errorsOf(a.thingId))
    await admin.subscribe(`things/${a.thingToken}/date`)
    expect(await refusal(service, a, admin)).toBe(errorsOf(a.thingToken))
    expect(await refusal(service, b, admin)).toBe(errorsOf(b.thingId))
  })

  it('arrives once where filters overlap', async () => {
    const { service, a, clients } = await start()
    for (const connect of [clients.thing, clients.admin]) {
      const client = await connect()
      const filters = [errorsOf(a.thingId), `things/${a.thingToken}/#`, `things/${a.thingId}/+`]
      await client.subscribeAll(filters)
      for (const count of [1, 2, 3]) {
        await refusal(service, a, client)
        await client.ping()
        expect(errorsReceived(client)).toHaveLength(count)
      }
    }
  })

  it('of another thing reaches no thing and no anonymous client, whatever they ask for', async () => {
    const { service, a, b, clients } = await start()
    const asked = [
      errorsOf(b.thingId),
      `things/${b.thingId}/#`,
      'things/+/errors',
      '#',
      '+/+/errors',
      'things/#',
    ]
    for (const connect of [clients.thing, clients.anonymous]) {
      const client = await connect()
      await client.subscribeAll([...asked, `things/${a.thingToken}/#`, ...asked])
      for (let count = 0; count < 3; count++) {
        await service.refuse(b)
        expect(await refusal(service, a, client)).toBe(errorsOf(a.thingToken))
      }
      expect(errorsReceived(client)).toHaveLength(3)
      expect(topicsReceived(client).filter(topic => topic.includes(b.thingId))).toEqual([])
    }
  })

  it('is not seen any more after UNSUBSCRIBE, even if the thing was spelled', async () => {
    const { service, a, b, clients } = await start()
    const client = await clients.anonymous()
    await client.subscribeAll([errorsOf(b.thingToken), errorsOf(a.thingToken)])
    expect(await refusal(service, b, client)).toBe(errorsOf(b.thingToken))
    await client.unsubscribe(errorsOf(b.thingToken))
    await service.refuse(b)
    expect(await refusal(service, a, client)).toBe(errorsOf(a.thingToken))
    expect(topicsReceived(client)).toHaveLength(2)
  })
})

describe('a write', () => {
  it('is never relayed on its own topic, nor retained, whoever is subscribed to it', async () => {
    const { service, a, clients } = await start()
    const refs = [a.thingToken, a.thingId]
    const filters = refs.flatMap(ref => [`things/${ref}/#`, `things/${ref}/write`, `things/${ref}/+`])
    const v2 = refs.map(ref => `v2/things/${ref}`)
    const everyone = ['things/+/#', 'things/+/write', 'v2/things/+']
    const connectAll = async () => {
      const connected = await Promise.all([clients.thing(), clients.anonymous(), clients.admin()])
      for (const client of connected) await client.subscribeAll([...filters, ...v2, ...everyone], 2)
      return connected
    }
    const subscribers = await connectAll()
    const writer = await clients.thing()
    const bodies = [0, 1, 2].map(qos => JSON.stringify(reading(qos)))
    for (const ref of refs) {
      for (const topic of [writeTopicOf(ref), `v2/things/${ref}`]) {
        for (const [qos, body] of bodies.entries()) {
          for (const retain of [false, true]) {
            await writer.publish(topic, body, { qos: qos as 0 | 1 | 2, retain })
          }
        }
      }
    }
    expect((await write(service, a, reading('HTTP'))).status).toBe(201)
    expect(await service.values(a, 'n')).toHaveLength(2 * 2 * 3 * 2 + 1)
    await service.refuse(a)
    const later = await connectAll()
    for (const client of subscribers)
      await client.next(packet => refs.some(ref => isMessageOn(errorsOf(ref))(packet)))
    for (const client of [...subscribers, ...later]) {
      await client.ping()
      expect(topicsReceived(client).filter(topic => topic.endsWith('/write'))).toEqual([])
      const payloads = client.received.flatMap(packet =>
        packet.cmd === 'publish' ? [String(packet.payload)] : [],
      )
      expect(payloads.filter(payload => bodies.includes(payload))).toEqual([])
    }
  })
})
