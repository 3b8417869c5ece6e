import { generate, type IConnackPacket, type IConnectPacket, type Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { type ConnectOptions, isOf, type MqttClient, openMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService, type DoorServiceOptions, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const
const week = 7 * 24 * 3_600

async function start(options: DoorServiceOptions = {}) {
  const service = await DoorService.start(options)
  const thing = await service.createThing()
  const asThing = { ...version5, username: 'device', password: thing.thingToken }
  const connect = (more: ConnectOptions = {}) => service.connect({ ...asThing, ...more })
  return { service, thing, asThing, connect, topic: writeTopicOf(thing.thingToken) }
}

/** Index of the flags of a CONNECT that is shorter than 128 bytes. */
const flagsAt = 9

function connectBytes({
  password,
  ...rest
}: Partial<Omit<IConnectPacket, 'password'>> & { readonly password: string }): Buffer {
  const connect = {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clientId: 'x',
    clean: true,
  } as const
  return generate({ ...connect, ...rest, password: Buffer.from(password) })
}

/** The reason code of the DISCONNECT that ends a connection, which is the last packet. */
async function disconnectOf(client: MqttClient): Promise<number | undefined> {
  await client.untilClosed()
  const last = client.received.at(-1)
  return last?.cmd === 'disconnect' ? last.reasonCode : undefined
}

function propertiesOf({ connack }: MqttClient): NonNullable<IConnackPacket['properties']> {
  return connack.properties ?? {}
}

describe('CONNACK of version 5', () => {
  it('says what the server takes', async () => {
    const { connect } = await start({ server: { maxPacketSize: 1_024 } })
    const client = await connect()
    expect(client.connack).toMatchObject({ reasonCode: 0, sessionPresent: false })
    expect(propertiesOf(client)).toEqual({
      receiveMaximum: 256,
      // A packet of 1,024 bytes behind its header of three.
      maximumPacketSize: 1_027,
      topicAliasMaximum: 16,
      sharedSubscriptionAvailable: false,
    })
  })

  it.each([
    ['none', undefined, undefined],
    ['an hour', 3_600, undefined],
    ['a year', 365 * 24 * 3_600, week],
    ['no end', 0xffff_ffff, week],
  ])('grants a session expiry of %s', async (_, sessionExpiryInterval, granted) => {
    const { connect } = await start()
    const properties = sessionExpiryInterval === undefined ? {} : { sessionExpiryInterval }
    expect(propertiesOf(await connect({ properties })).sessionExpiryInterval).toBe(granted)
  })

  it('grants a client without a credential no session', async () => {
    const { service } = await start()
    const client = await service.connect({
      ...version5,
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    })
    expect(propertiesOf(client).sessionExpiryInterval).toBe(0)
  })

  it.each([true, false])('assigns an id that is good for coming back, with Clean Start %s', async clean => {
    const { service, asThing, connect } = await start()
    const properties = { sessionExpiryInterval: 60 }
    const client = await openMqtt({ ...version5, url: service.mqttUrl })
    const bytes = connectBytes({ ...asThing, clientId: '', clean: true, properties })
    // mqtt-packet writes no such CONNECT itself.
    if (!clean) bytes[flagsAt] = (bytes[flagsAt] ?? 0) & ~0x02
    client.sendBytes(bytes)
    const { properties: { assignedClientIdentifier = '' } = {} } = await client.next(isOf('connack'))
    expect(assignedClientIdentifier).toMatch(/^[\da-f-]{36}$/)
    await client.destroy()
    const again = await connect({ clientId: assignedClientIdentifier, clean: false, properties })
    expect(again.connack.sessionPresent).toBe(true)
    expect(propertiesOf(again).assignedClientIdentifier).toBeUndefined()
  })

  it.each<[string, ConnectOptions, number]>([
    ['an unknown credential', { username: 'x', password: 'y' }, 0x86],
    ['a client id that is too long', { clientId: 'x'.repeat(257) }, 0x85],
    ['a will elsewhere', { will: { topic: 'elsewhere', payload: 'x' } }, 0x87],
    ['an authentication method', { properties: { authenticationMethod: 'SCRAM' } }, 0x8c],
  ])('refuses %s with a code and a reason, which repeats nothing', async (_, options, code) => {
    const { connect } = await start()
    const client = await connect(options)
    expect(client.connack.reasonCode).toBe(code)
    expect(propertiesOf(client).reasonString).toMatch(/\w+/)
    expect(propertiesOf(client).reasonString).not.toMatch(/elsewhere|SCRAM|xxx/)
    await client.untilClosed()
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack'])
  })

  it('takes a password without a username', async () => {
    const { service, thing } = await start()
    const client = await openMqtt({ ...version5, url: service.mqttUrl })
    const bytes = connectBytes({ username: '', password: thing.thingToken })
    bytes[flagsAt] = (bytes[flagsAt] ?? 0) & ~0x80
    const [before, behind] = [bytes.subarray(0, -2 - 2 - 43), bytes.subarray(-2 - 43)]
    const without = Buffer.concat([before, behind])
    without[1] = (without[1] ?? 0) - 2
    client.sendBytes(without)
    expect(await client.next(isOf('connack'))).toMatchObject({ reasonCode: 0 })
  })

  it('says that the server is stopping with 0x88', async () => {
    const { service, connect } = await start()
    service.drain()
    expect((await connect()).connack.reasonCode).toBe(0x88)
  })

  it('says that a principal has too many persistent sessions with 0x97', async () => {
    const { service, thing, connect } = await start()
    const prefix = `mqtt-sessions/${encodeURIComponent(`thing.${thing.thingId}:`)}`
    const names = Array.from({ length: 1_000 }, (_, place) => `${prefix}${place}`)
    await service.things.documents.put(Object.fromEntries(names.map(name => [name, {}])), 'keep')
    const client = await connect({ properties: { sessionExpiryInterval: 60 } })
    expect(client.connack.reasonCode).toBe(0x97)
  })
})

describe('a session of version 5', () => {
  const properties = { sessionExpiryInterval: 60 }

  it('of no expiry ends with its connection, although Clean Start is 0', async () => {
    const { service, connect } = await start()
    const options = { clientId: 'board', clean: false }
    await (await connect({ ...options, properties })).destroy()
    const resumed = await connect(options)
    expect(resumed.connack.sessionPresent).toBe(true)
    const taking = await connect(options)
    expect(taking.connack.sessionPresent).toBe(false)
    expect(await disconnectOf(resumed)).toBe(0x8e)
    await taking.disconnect()
    expect((await connect(options)).connack.sessionPresent).toBe(false)
    await expect.poll(() => service.documents('mqtt-sessions/')).toEqual([])
  })

  it('begins anew with Clean Start, and is kept', async () => {
    const { thing, connect } = await start()
    const options = { clientId: 'board', clean: false, properties }
    const first = await connect(options)
    await first.subscribe(`things/${thing.thingId}/values/+`)
    await first.destroy()
    expect((await connect({ ...options, clean: true })).connack.sessionPresent).toBe(false)
    const third = await connect(options)
    expect(third.connack.sessionPresent).toBe(true)
    await third.publish(writeTopicOf(thing.thingId), reading(1))
    await third.ping()
    expect(third.received.filter(isOf('publish'))).toEqual([])
  })

  it('that has ended is not found, and leaves the store', async () => {
    const { service, connect } = await start()
    const options = { clientId: 'board', clean: false, properties: { sessionExpiryInterval: 1 } }
    await (await connect(options)).disconnect()
    await expect.poll(() => service.documents('mqtt-sessions/')).toEqual([])
    expect((await connect(options)).connack.sessionPresent).toBe(false)
  })

  it('that is over is not found, although it is still in the store', async () => {
    const { service, connect } = await start()
    const options = { clientId: 'board', clean: false, properties: { sessionExpiryInterval: 100 } }
    await (await connect(options)).disconnect()
    await expect.poll(() => service.documents('mqtt-sessions/')).toHaveLength(1)
    const [name = ''] = await service.documents('mqtt-sessions/')
    const isLeft = async () => (await service.things.documents.get(name))?.isInUse === false
    await expect.poll(isLeft).toBe(true)
    const session = await service.things.documents.get(name)
    const lastConnected = Number(session?.lastConnected) - 100_000
    await service.things.documents.put({ [name]: { ...session, lastConnected } }, 'keep')
    expect((await connect(options)).connack.sessionPresent).toBe(false)
  })

  it('changes its expiry at DISCONNECT, but not from none', async () => {
    const { service, connect } = await start()
    const options = { clientId: 'board', clean: false }
    const leave = (sessionExpiryInterval: number): Packet => {
      return { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval } }
    }
    const kept = await connect({ ...options, properties })
    kept.send(leave(0))
    await kept.untilClosed()
    await expect.poll(() => service.documents('mqtt-sessions/')).toEqual([])
    const clean = await connect(options)
    clean.send(leave(60))
    expect(await disconnectOf(clean)).toBe(0x82)
  })
})

describe('DISCONNECT of version 5', () => {
  it.each([
    ['0', 0, []],
    ['0x04', 0x04, ['will']],
    ['0x80', 0x80, ['will']],
  ])('with %s decides about the will', async (_, reasonCode, written) => {
    const { service, thing, connect, topic } = await start()
    const client = await connect({ will: { topic, payload: reading('will'), qos: 1 } })
    client.send({ cmd: 'disconnect', reasonCode })
    await client.untilClosed()
    await expect.poll(() => service.documents('mqtt-wills/')).toEqual([])
    expect(await service.values(thing, 'n')).toEqual(written)
  })

  it('says that another connection has taken over', async () => {
    const { connect } = await start()
    const client = await connect({ clientId: 'board' })
    await connect({ clientId: 'board' })
    expect(await disconnectOf(client)).toBe(0x8e)
  })

  it('says that the server is stopping', async () => {
    const { service, connect } = await start()
    const client = await connect()
    await service.stop()
    expect(await disconnectOf(client)).toBe(0x8b)
  })

  it('says that the keep-alive is over', async () => {
    const { connect } = await start()
    expect(await disconnectOf(await connect({ keepalive: 1 }))).toBe(0x8d)
  })

  it('says that the credential was revoked', async () => {
    const { service, thing, connect } = await start()
    const client = await connect()
    await service.things.registry.remove(thing.thingId)
    expect(await disconnectOf(client)).toBe(0x87)
  })

  it('says that messages wait for a client that reads too slowly, unless it reads nothing', async () => {
    const { thing, connect, topic } = await start({ drainTimeout: 100 })
    const [reader, writer] = [await connect({ clientId: 'reader' }), await connect()]
    await reader.subscribe(`things/${thing.thingId}/values/#`)
    reader.stream.pause()
    const text = 'x'.repeat(60_000)
    const closed = new Promise(resolve => reader.stream.once('close', resolve))
    for (let count = 0; count < 400; count++) await writer.publish(topic, reading(text))
    reader.stream.resume()
    await closed
    expect(reader.received.at(-1)?.cmd).toBe('publish')
  })

  it.each<[string, Packet[], number]>([
    ['a second CONNECT', [{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: 'x' }], 0x82],
    ['a topic alias over the maximum', [alias('t', 17)], 0x94],
    ['an unknown topic alias', [alias('', 1)], 0x94],
    [
      'a packet that is too large',
      [{ cmd: 'publish', topic: 't', payload: 'x'.repeat(2_000), qos: 0, dup: false, retain: false }],
      0x95,
    ],
  ])('says that the client sent %s, and reads nothing behind it', async (_, packets, code) => {
    const { service, thing, connect, topic } = await start({ server: { maxPacketSize: 1_024 } })
    const client = await connect()
    client.send(...packets)
    client.send({
      cmd: 'publish',
      topic,
      payload: JSON.stringify(reading(1)),
      qos: 0,
      dup: false,
      retain: false,
    })
    expect(await disconnectOf(client)).toBe(code)
    expect(await service.values(thing, 'n')).toEqual([])
  })
})

function alias(topic: string, topicAlias: number): Packet {
  return {
    cmd: 'publish',
    topic,
    payload: 'x',
    qos: 0,
    dup: false,
    retain: false,
    properties: { topicAlias },
  }
}
