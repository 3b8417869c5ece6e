import { describe, expect, it } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { ask, type Thing } from '../../helpers/http-client.ts'
import { reportLateness, writtenAt } from '../../helpers/lateness.ts'
import { type ConnectOptions, isOf, type MqttClient, type Payload } from '../../helpers/mqtt-client.ts'
import { mqttOfTest, serverOfTest } from '../../helpers/of-test.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

const version5 = { protocolVersion: 5 } as const
const long = { sessionExpiryInterval: 1_000 }

type WillBody = readonly [format: string, payload: Payload]
const plain: WillBody = ['', reading('will')]
const inFormat: WillBody = ['/value/n', 'will']

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const topic = writeTopicOf(thing.thingId)
  const connect = (options: ConnectOptions = {}) =>
    service.connectThing(thing, {
      ...version5,
      clientId: 'board',
      clean: false,
      properties: long,
      ...options,
    })
  const willAfter = (willDelayInterval: number, [format, payload]: WillBody = plain) => {
    const properties = { willDelayInterval }
    return { will: { topic: topic + format, payload, qos: 1 as const, properties } }
  }
  const witness = await service.connectThing(thing, version5)
  await witness.subscribe(`things/${thing.thingId}/values/n`)
  const write = (value: unknown) => witness.publish(topic, reading(value))
  return { service, thing, connect, willAfter, witness, write }
}

async function nextValue(client: MqttClient): Promise<unknown> {
  const { payload } = await client.next(isOf('publish'))
  return (JSON.parse(payload.toString()) as { value: unknown }).value
}

describe('Will Delay', () => {
  it.each([['as a write', plain] as const, ['in a format', inFormat] as const])(
    'has the will %s written when it is over',
    async (_, body) => {
      const { connect, willAfter, witness, write } = await start()
      await (await connect(willAfter(1, body))).destroy()
      await write('before')
      expect(await nextValue(witness)).toBe('before')
      expect(await nextValue(witness)).toBe('will')
    },
  )

  it('ends with the session', async () => {
    const { connect, willAfter, witness, write } = await start()
    await (await connect({ ...willAfter(1_000), properties: { sessionExpiryInterval: 1 } })).destroy()
    await write('before')
    expect(await nextValue(witness)).toBe('before')
    expect(await nextValue(witness)).toBe('will')
  })

  it('is 0 without a session', async () => {
    const { connect, willAfter, witness } = await start()
    await (await connect({ ...willAfter(1_000), properties: {} })).destroy()
    expect(await nextValue(witness)).toBe('will')
  })

  it.each([
    ['is back', true],
    ['takes over', false],
  ])('has no will written if the client %s with its session', async (_, isLost) => {
    const { service, connect, willAfter, witness, write } = await start()
    const client = await connect(willAfter(1))
    if (isLost) await client.destroy()
    expect((await connect()).connack.sessionPresent).toBe(true)
    await expect.poll(() => service.documents('mqtt-wills/')).toEqual([])
    await write('behind')
    expect(await nextValue(witness)).toBe('behind')
  })

  it.each([
    ['is back', true],
    ['takes over', false],
  ])('has the will written before CONNACK if the client %s with a new session', async (_, isLost) => {
    const { thing, service, connect, willAfter } = await start()
    const client = await connect(willAfter(1_000))
    if (isLost) await client.destroy()
    await connect({ clean: true })
    expect(await service.values(thing, 'n')).toEqual(['will'])
  })

  it('has the will written after DISCONNECT 0x04, no later than the new end of the session', async () => {
    const { connect, willAfter, witness } = await start()
    const client = await connect(willAfter(1_000))
    client.send({ cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 0 } })
    await client.untilClosed()
    expect(await nextValue(witness)).toBe('will')
  })

  it('has no will written after DISCONNECT', async () => {
    const { service, connect, willAfter } = await start()
    await (await connect(willAfter(1))).disconnect()
    await expect.poll(() => service.documents('mqtt-wills/')).toEqual([])
  })
})

it('a will is kept without the token of its client, which may be its write id or one of its levels', async () => {
  const { service, thing, connect } = await start()
  const { thingToken } = thing
  const properties = { userProperties: { id: thingToken } }
  const topic = `${writeTopicOf(thingToken)}/value/${thingToken}`
  await connect({ will: { topic, payload: 'will', qos: 1, properties } })
  const [name = ''] = await service.documents('mqtt-wills/')
  const kept = JSON.stringify(await service.things.documents.get(name))
  expect(kept).toContain('"id"')
  expect(kept).toContain('"value/')
  expect(kept).not.toContain(thingToken)
})

describe('a will on another topic', () => {
  it('has its properties, and begins to be over when it is published', async () => {
    const service = await DoorService.start({ topics: ['house/#'] })
    const grants = (['read', 'write'] as const).map(access => ({ filter: 'house/#', access }))
    const witness = await service.connectTopics(grants, version5)
    await witness.subscribe('house/#')
    const properties = {
      ...{
        contentType: 'text/plain',
        responseTopic: 'house/answers',
        correlationData: Buffer.from([0, 255]),
      },
      ...{
        userProperties: { b: '1', a: ['2', '3'] },
        payloadFormatIndicator: true,
        messageExpiryInterval: 1_000,
      },
    }
    const will = { topic: 'house/gone', payload: 'x', qos: 1 as const, retain: true }
    const options = {
      properties: long,
      will: { ...will, properties: { ...properties, willDelayInterval: 1 } },
    }
    await (await service.connectTopics(grants, { ...version5, ...options })).destroy()
    const { properties: said, payload } = await witness.next(isOf('publish'))
    expect(String(payload)).toBe('x')
    expect({ ...said, userProperties: { ...said?.userProperties } }).toEqual(properties)
  })
})

describe('a server that is killed or stopped', () => {
  it.for(['SIGKILL', 'SIGTERM'] as const)(
    'with %s loses neither will nor end of a session',
    async (signal, context) => {
      const dataDir = await temporaryDirectory()
      const adminKey = createToken()
      const environment = { THINGWIRE_ADMIN_KEY: adminKey, THINGWIRE_WILL_GRACE: '0' }
      const first = await serverOfTest({ dataDir, environment })
      const server = { ...first, url: first.url, adminKey }
      const thing = await ask<Thing>(server, 'POST', '/v2/admin/things', {})
      const topic = writeTopicOf(thing.thingId)
      const connect = (url: string, clientId: string, options: ConnectOptions = {}) =>
        mqttOfTest({ ...version5, url, clientId, username: 'x', password: thing.thingToken, ...options })
      const will = { topic, qos: 1 as const, properties: { willDelayInterval: 1 } }
      const short = { sessionExpiryInterval: 1 }
      const lost = await connect(first.mqttUrl, 'lost', {
        properties: long,
        will: { ...will, payload: reading('lost') },
      })
      const lostAt = Date.now()
      await lost.destroy()
      await connect(first.mqttUrl, 'there', {
        properties: long,
        will: { ...will, topic: `${topic}/value/n`, payload: 'there' },
      })
      await (await connect(first.mqttUrl, 'ended', { properties: short })).disconnect()
      await connect(first.mqttUrl, 'open', { properties: short })
      if (signal === 'SIGKILL') await first.kill()
      else await first.stop()
      const restartedAt = Date.now()
      const second = await DoorService.start({ dataDir, adminKey, willGrace: 0 })
      await expect.poll(async () => (await second.values(thing, 'n')).sort()).toEqual(['lost', 'there'])
      await expect.poll(async () => (await second.documents('mqtt-sessions/')).length).toBe(2)
      const endedAt = Date.now()
      const times = await writtenAt(second, thing, 'n')
      await reportLateness(context, {
        'the will of a client that was lost before': [
          times.get('lost'),
          Math.max(lostAt + 1_000, restartedAt),
        ],
        'the will of a client that was connected': [times.get('there'), restartedAt + 1_000],
        'the ends of sessions': [endedAt, restartedAt + (signal === 'SIGKILL' ? 1_000 : 0)],
      })
      const isPresent = async (clientId: string) =>
        (await connect(second.mqttUrl, clientId, { clean: false, properties: short })).connack.sessionPresent
      expect([await isPresent('ended'), await isPresent('open')]).toEqual([false, false])
      expect([await isPresent('lost'), await isPresent('there')]).toEqual([true, true])
    },
  )
})
