import { generate, type IConnectPacket } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { createThingId, createToken } from '../../../src/core/token.ts'
import { encodePackets, isMessageOn, isOf, openMqtt, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../door-service.ts'

const connectPacket: IConnectPacket = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clientId: 'device',
  clean: true,
  keepalive: 0,
}

/** A CONNECT of MQTT by name, whose level says something else. */
function connectOfLevel(level: number): Buffer {
  const bytes = generate(connectPacket)
  bytes[bytes.indexOf('MQTT') + 4] = level
  return bytes
}

describe('CONNECT', () => {
  it('lets in by password, or else by username, and refuses every other credential with 4', async () => {
    const service = await DoorService.start()
    const { adminKey } = service
    const a = await service.createThing()
    const b = await service.createThing()
    const { sessionToken: ofB } = await service.things.sessions.create([b.thingId], { access: 'write' })
    const filters = ['things/+/errors', `things/${a.thingId}/errors`, `things/${b.thingId}/errors`]
    const people: Record<string, string> = {
      ...{ '1,1,1': 'admin', '1,128,1': 'session of B' },
      ...{ '128,1,128': 'A', '128,128,1': 'B', '128,128,128': 'anonymous' },
    }
    const connect = async (username?: string, password?: string) => {
      const given = {
        ...(username !== undefined && { username }),
        ...(password !== undefined && { password }),
      }
      const client = await service.connect(given)
      const { returnCode } = client.connack
      if (returnCode !== 0) {
        await client.untilClosed()
        return returnCode
      }
      const seen = String(await client.subscribeAll(filters))
      return people[seen] ?? seen
    }
    const rows: [username: string | undefined, password: string | undefined, who: unknown][] = [
      [undefined, undefined, 'anonymous'],
      ['', undefined, 'anonymous'],
      ['', '', 'anonymous'],
      ['device', a.thingToken, 'A'],
      ['', a.thingToken, 'A'],
      ['device', adminKey, 'admin'],
      [a.thingToken, undefined, 'A'],
      [a.thingToken, '', 'A'],
      [a.thingToken, 'secret', 'A'],
      [a.thingToken, createToken(), 'A'],
      [a.thingToken, b.thingToken, 'B'],
      [a.thingToken, adminKey, 'admin'],
      [createToken(), b.thingToken, 'B'],
      [adminKey, undefined, 4],
      [adminKey, 'secret', 4],
      [ofB, undefined, 4],
      [ofB, 'secret', 4],
      ['app', ofB, 'session of B'],
      [ofB, a.thingToken, 'A'],
      [createToken(), undefined, 4],
      [createToken(), 'secret', 4],
      ['device', undefined, 4],
      ['device', 'secret', 4],
      ['device', createToken(), 4],
      ['', 'secret', 4],
      ['', createToken(), 4],
      [a.thingId, undefined, 4],
      ['device', a.thingId, 4],
      ['device', ` ${a.thingToken}`, 4],
      ['device', `Bearer ${a.thingToken}`, 4],
    ]
    for (const [index, [username, password, who]] of rows.entries()) {
      expect(await connect(username, password), `row ${index}`).toBe(who)
    }
  })

  it('is refused with 4 for a token that was removed', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const { thingToken, tokenId } = await service.things.registry.addToken(thing.thingId)
    const before = await service.connect({ username: thingToken })
    expect(before.connack.returnCode).toBe(0)
    await service.things.registry.removeToken(thing.thingId, tokenId)
    const after = await service.connect({ username: thingToken })
    expect(after.connack.returnCode).toBe(4)
  })

  it.each([3, 4] as const)('takes protocol level %i, over TCP and WebSocket', async protocolVersion => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    for (const url of [service.mqttUrl, service.webSocketUrl]) {
      const client = await service.connect({ url, protocolVersion, username: thing.thingToken })
      expect(client.connack).toMatchObject({ returnCode: 0, sessionPresent: false })
      await client.publish(writeTopicOf(thing.thingId), reading(protocolVersion))
    }
    expect(await service.values(thing, 'n')).toEqual([protocolVersion, protocolVersion])
  })

  it('of every level but 4 and 5 is answered with return code 1, over TCP and WebSocket', async () => {
    const service = await DoorService.start()
    for (let level = 0; level <= 0xff; level++) {
      if (level === 4 || level === 5) continue
      const client = await openMqtt({ url: level % 2 === 0 ? service.mqttUrl : service.webSocketUrl })
      client.sendBytes(connectOfLevel(level))
      await client.untilClosed()
      expect(client.received, `level ${level}`).toMatchObject([{ cmd: 'connack', returnCode: 1 }])
    }
  })

  it('that is not served writes nothing, whatever follows it', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await openMqtt({ url: service.mqttUrl })
    const write = publishPacket(writeTopicOf(thing.thingToken), reading('unheard'), { messageId: 1 })
    client.sendBytes(Buffer.concat([connectOfLevel(0x84), encodePackets(write, { cmd: 'pingreq' })]))
    await client.untilClosed()
    expect(client.received).toMatchObject([{ cmd: 'connack', returnCode: 1 }])
    expect(await service.values(thing, 'n')).toEqual([])
  })

  it('has what follows it in the same segment served in order, behind CONNACK', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const topic = writeTopicOf(thing.thingToken)
    const client = await service.connect({
      username: thing.thingToken,
      pipelined: [
        publishPacket(topic, reading(1), { messageId: 1 }),
        publishPacket(topic, reading(2), { messageId: 2, qos: 2 }),
        {
          cmd: 'subscribe',
          messageId: 3,
          subscriptions: [{ topic: `things/${thing.thingId}/errors`, qos: 0 }],
        },
        publishPacket(topic, 'no JSON', { messageId: 4 }),
        publishPacket(topic, reading(3), { qos: 0 }),
        { cmd: 'pingreq' },
      ],
    })
    await client.next(isMessageOn(`things/${thing.thingId}/errors`))
    await client.next(isOf('pingresp'))
    const expected = ['puback 1', 'pubrec 2', 'puback 4']
    await client.publish(topic, reading(4), { messageId: 5 })
    expect(client.acknowledgements).toEqual([...expected, 'puback 5'])
    expect(client.received[0]?.cmd).toBe('connack')
    expect(await service.values(thing, 'n')).toEqual([1, 2, 3, 4])
  })

  it('closes the connection when it is the second one, and when something comes before it', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const second = await service.connectThing(thing)
    second.send({ ...connectPacket, clientId: 'another' })
    await second.untilClosed()
    const pipelined = await service.connectThing(thing, { pipelined: [connectPacket] })
    await pipelined.untilClosed()
    expect(pipelined.received.map(({ cmd }) => cmd)).toEqual(['connack'])
    const early = await openMqtt({ url: service.mqttUrl })
    const write = publishPacket(writeTopicOf(thing.thingToken), reading('early'), { messageId: 1 })
    early.sendBytes(encodePackets(write, connectPacket))
    await early.untilClosed()
    expect(early.received).toEqual([])
    expect(await service.values(thing, 'n')).toEqual([])
  })
})

describe('CONNECT with a will', () => {
  it('is refused with 5 unless the will is on a write topic of its own', async () => {
    const service = await DoorService.start()
    const a = await service.createThing()
    const b = await service.createThing()
    const [asA, asAdmin, anonymous] = [{ username: a.thingToken }, { password: service.adminKey }, {}]
    const rows: [topic: string, codes: [asA: number, asAdmin: number, anonymous: number]][] = [
      [`things/${a.thingToken}/write`, [0, 0, 0]],
      [`v2/things/${a.thingToken}`, [0, 0, 0]],
      [`things/${a.thingId}/write`, [0, 0, 5]],
      [`v2/things/${a.thingId}`, [0, 0, 5]],
      [`things/${b.thingId}/write`, [5, 0, 5]],
      [`v2/things/${b.thingId}`, [5, 0, 5]],
      [`things/${createToken()}/write`, [5, 5, 5]],
      [`things/${createThingId()}/write`, [5, 5, 5]],
      [`things/${a.thingToken}/values/temperature`, [5, 5, 5]],
      [`things/${a.thingToken}/errors`, [5, 5, 5]],
      [`things/${a.thingToken}/writes/more`, [5, 5, 5]],
      [`things/${a.thingToken}/write/value/n`, [0, 0, 0]],
      [`things/${a.thingId}/write/value/n`, [0, 0, 5]],
      [`things/${a.thingToken}/write/value/+`, [5, 5, 5]],
      [`things/${a.thingToken}`, [5, 5, 5]],
      ['things/+/write', [5, 5, 5]],
      ['things/#', [5, 5, 5]],
      ['$SYS/broker/clients', [5, 5, 5]],
      ['sensors/temperature', [5, 5, 5]],
      ['v2/activations/code/x', [5, 5, 5]],
    ]
    for (const [topic, codes] of rows) {
      const will = { topic, payload: reading('will') }
      const seen: unknown[] = []
      for (const credentials of [asA, asAdmin, anonymous]) {
        const client = await service.connect({ username: '', ...credentials, will })
        seen.push(client.connack.returnCode)
        if (client.connack.returnCode === 0) await client.disconnect()
      }
      expect(seen, topic).toEqual(codes)
    }
    await eventually(() => service.documents('mqtt-wills/')).toEqual([])
  })
})
