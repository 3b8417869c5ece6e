import { describe, expect, it } from 'vitest'
import { isOf, type MqttClient, openMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

const clientId = 'board'

describe('a client id', () => {
  it('is scoped to the thing: two things with the same one do not disturb one another', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    for (const clean of [true, false]) {
      const asA = await service.connectThing(a, { clientId, clean })
      const asB = await service.connectThing(b, { clientId, clean })
      expect([asA, asB].map(({ connack }) => connack.sessionPresent)).toEqual([false, false])
      // The same packet id, not released: a session that both had would take the second for the first.
      for (const [client, { thingToken }] of [[asA, a] as const, [asB, b] as const]) {
        await client.publishUntilPubrec(writeTopicOf(thingToken), reading(clean), { messageId: 1 })
      }
      await asA.ping()
      await asB.ping()
    }
    for (const thing of [a, b]) expect(await service.values(thing, 'n')).toEqual([true, false])
  })

  it('is scoped to the principal: a thing, the admin and an anonymous client can have the same one', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const asThing = await service.connectThing(thing, { clientId })
    const asAdmin = await service.connect({ clientId, username: 'operator', password: service.adminKey })
    const anonymous = await service.connect({ clientId })
    for (const client of [asThing, asAdmin, anonymous])
      await client.publish(writeTopicOf(thing.thingToken), reading(1))
    for (const client of [asThing, asAdmin, anonymous]) await client.ping()
  })

  it('cannot be spelled so that it is taken for one of another scope', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const asA = await service.connectThing(a, { clientId: 'x' })
    const asAdmin = await service.connect({ clientId: 'x', username: 'operator', password: service.adminKey })
    for (const posed of [`thing.${a.thingId}:x`, 'admin:x', ':x', `x:${a.thingId}`]) {
      await service.connectThing(b, { clientId: posed })
      await service.connect({ clientId: posed })
    }
    await asA.ping()
    await asAdmin.ping()
  })

  it.each(['clean', 'persistent'])(
    'takes over within its scope: the older %s connection is closed',
    async kind => {
      const service = await DoorService.start()
      const thing = await service.createThing()
      const clean = kind === 'clean'
      const credentials = [
        { username: 'device', password: thing.thingToken },
        { username: thing.thingToken },
        { username: 'device', password: (await service.things.registry.addToken(thing.thingId)).thingToken },
      ]
      let older = await service.connect({ clientId, clean, ...credentials[0] })
      for (const credential of credentials) {
        const newer = await service.connect({ clientId, clean, ...credential })
        await older.untilClosed()
        expect(newer.connack).toMatchObject({ returnCode: 0, sessionPresent: !clean })
        older = newer
      }
      await older.publish(writeTopicOf(thing.thingId), reading(1))
      expect(await service.values(thing, 'n')).toEqual([1])
    },
  )

  it('takes over within the scope of the admin', async () => {
    const service = await DoorService.start()
    const admin = { clientId, username: 'operator', password: service.adminKey }
    const older = await service.connect(admin)
    await service.connect(admin)
    await older.untilClosed()
  })
})

describe('CONNECT with a client id', () => {
  /** @returns the CONNACK's code */
  async function connectAs(service: DoorService, clientId: string, clean: boolean, protocolVersion: 3 | 4) {
    const { thingToken } = await service.createThing()
    const client = await service.connect({ protocolVersion, clientId, clean, username: thingToken })
    return client.connack.returnCode
  }

  it('of up to 256 bytes is let in, at either protocol version, and refused with 2 beyond', async () => {
    const service = await DoorService.start()
    const accepted = ['a', 'a'.repeat(24), 'a'.repeat(200), 'a'.repeat(256), 'é'.repeat(128), ':/+#$%\u0001']
    for (const clientId of accepted) {
      for (const clean of [true, false]) {
        expect(await connectAs(service, clientId, clean, 4), clientId).toBe(0)
        expect(await connectAs(service, clientId, clean, 3), clientId).toBe(0)
      }
    }
    for (const clientId of ['a'.repeat(257), `${'é'.repeat(128)}a`]) {
      expect(await connectAs(service, clientId, true, 4)).toBe(2)
      expect(await connectAs(service, clientId, true, 3)).toBe(2)
    }
  })

  it('that is empty gets one of its own with clean=true, and is refused with 2 without', async () => {
    const service = await DoorService.start()
    const { thingToken } = await service.createThing()
    const clients: MqttClient[] = []
    const returnCodes: unknown[] = []
    for (const clean of [true, false]) {
      for (const username of [thingToken, '']) {
        for (const protocolVersion of [4, 3] as const) {
          const client = await openMqtt({ url: service.mqttUrl, protocolVersion })
          client.sendBytes(connectWithoutId(protocolVersion, clean, username))
          returnCodes.push((await client.next(isOf('connack'))).returnCode)
          clients.push(client)
        }
      }
    }
    expect(returnCodes).toEqual([0, 0, 0, 0, 2, 2, 2, 2])
    // None of them is taken for another.
    for (const client of clients.splice(0, 4)) await client.ping()
    for (const client of clients) await client.untilClosed()
  })

  it('that holds a token is not kept as it is', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const clientId = `sensor-${thing.thingToken}`
    for (const sessionPresent of [false, true]) {
      const client = await service.connectThing(thing, { clientId, clean: false })
      expect(client.connack).toMatchObject({ returnCode: 0, sessionPresent })
      await client.disconnect()
    }
    const names = await service.documents('mqtt-sessions/')
    expect(names).toHaveLength(1)
    expect(names[0]).not.toContain(thing.thingToken)
  })

  it('and clean=false, but without a credential, is refused with 5', async () => {
    const service = await DoorService.start()
    const client = await service.connect({ clean: false })
    expect(client.connack.returnCode).toBe(5)
    await client.untilClosed()
  })
})

/** mqtt-packet refuses to write some of these. */
function connectWithoutId(protocolVersion: 3 | 4, clean: boolean, username: string): Buffer {
  const text = (content: string) => [0, Buffer.byteLength(content), ...Buffer.from(content)]
  const flags = 0x80 | (clean ? 0x02 : 0)
  const protocol = [...text(protocolVersion === 3 ? 'MQIsdp' : 'MQTT'), protocolVersion, flags, 0, 0]
  const rest = [...protocol, ...text(''), ...text(username)]
  return Buffer.from([0x10, rest.length, ...rest])
}
