import { describe, expect, it } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import { alterAppends, alterPuts } from '../../helpers/altered-driver.ts'
import type { Thing } from '../../helpers/http-client.ts'
import {
  type ConnectOptions,
  encodePackets,
  type MqttClient,
  publishPacket,
} from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, topicsReceived, writeTopicOf } from '../door-service.ts'
import { createGate } from '../observed-store.ts'

const clientId = 'board'

function willOf(ref: string, value: unknown): Required<ConnectOptions>['will'] {
  return { topic: writeTopicOf(ref), payload: reading(value), qos: 1 }
}

const hex = (text: string) => text.charCodeAt(0).toString(16).padStart(2, '0')
const percentEncoded = (letter: string) => `%${hex(letter)}`

const wills = (service: DoorService) => service.documents('mqtt-wills/')

/** Loses a client with a will, and waits for that will: those of clients that left before are due by then. */
async function loseAnother(service: DoorService, thing: Thing): Promise<void> {
  const client = await service.connectThing(thing, { will: willOf(thing.thingId, 'another') })
  const committed = service.committed(thing)
  await client.destroy()
  await committed
}

const losses = {
  'the connection breaks off': client => client.destroy(),
  'the connection ends without DISCONNECT': async client => {
    client.stream.end()
    await client.closed
  },
  'the client is silent for too long': client => client.untilClosed(),
  'the client is taken over': async (client, service, thing) => {
    await service.connectThing(thing, { clientId })
    await client.untilClosed()
  },
  'the client breaks the protocol': async client => {
    client.sendBytes(Buffer.from([0x00, 0x00]))
    await client.untilClosed()
  },
  'the client sends a packet that is too large': async (client, _service, thing) => {
    const body = Buffer.alloc(1024 * 1024, ' ')
    client.sendBytes(encodePackets(publishPacket(writeTopicOf(thing.thingId), body, { qos: 0 })))
    await client.untilClosed()
  },
} satisfies Record<string, (client: MqttClient, service: DoorService, thing: Thing) => Promise<void>>

describe('a will', () => {
  it.each(Object.entries(losses))('is written once when %s', async (loss, lose) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const keepalive = loss === 'the client is silent for too long' ? 1 : 0
    const will = willOf(thing.thingToken, 'gone')
    const client = await service.connectThing(thing, { clientId, keepalive, will })
    expect(await service.values(thing, 'n')).toEqual([])
    const committed = service.committed(thing)
    await lose(client, service, thing)
    await committed
    await loseAnother(service, thing)
    expect(await service.values(thing, 'n')).toEqual(['gone', 'another'])
    await eventually(() => wills(service)).toEqual([])
  })

  it.each([
    ['value/n', 'gone', ['gone']],
    ['json', '{"n":1,"none":null}', [1]],
    ['value/n', 'unavailable', []],
    ['senml', '[]', []],
  ])('on …/write/%s with %s is read in this format', async (format, payload, stored) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const will = { topic: `${writeTopicOf(thing.thingToken)}/${format}`, payload, qos: 1 as const }
    const client = await service.connectThing(thing, { clientId, will })
    await client.destroy()
    await eventually(() => wills(service)).toEqual([])
    expect(await service.values(thing, 'n')).toEqual(stored)
    const refused = (await service.things.refused.list(thing.thingId, 10)).map(({ reason }) => reason)
    expect(refused).toEqual(format === 'senml' ? ['unknown_format'] : [])
  })

  it.each([
    ['as they are', (token: string) => token],
    ['in the spelling of a URL', (token: string) => token.replaceAll(/./g, percentEncoded)],
    ['with a letter in the spelling of JSON', (token: string) => `\\u00${hex(token)}${token.slice(1)}`],
    ['cut at the end', (token: string) => token.slice(0, 33)],
    ['cut at the begin', (token: string) => token.slice(15)],
  ])('is kept without the tokens that its client has presented, %s', async (_spelling, spell) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const { thingToken } = thing
    const payload = `{"token":"${spell(thingToken)}","values":[{"key":"n","value":"gone"}]}`
    const client = await service.connectThing(thing, { will: { topic: writeTopicOf(thingToken), payload } })
    const [[, kept] = []] = await service.things.documents.list('mqtt-wills/', { limit: 1 })
    const body = Buffer.from(String(kept?.body), 'base64').toString()
    expect(body).toContain('"value":"gone"')
    expect(JSON.stringify(kept) + body).not.toContain(thingToken)
    expect(body).not.toContain(spell(thingToken))
    const committed = service.committed(thing)
    await client.destroy()
    await committed
    expect(await service.values(thing, 'n')).toEqual(['gone'])
  })

  it('is a write at each QoS, by token, id and v2 topic, with RETAIN or without', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const topics = [writeTopicOf(thing.thingToken), writeTopicOf(thing.thingId), `v2/things/${thing.thingId}`]
    const expected: unknown[] = []
    for (const topic of topics) {
      for (const qos of [0, 1, 2] as const) {
        for (const retain of [false, true]) {
          const value = `${topics.indexOf(topic)} ${qos} ${retain}`
          const will = { topic, payload: reading(value), qos, retain }
          const client = await service.connectThing(thing, { will })
          const committed = service.committed(thing)
          await client.destroy()
          await committed
          expected.push(value)
        }
      }
    }
    expect(await service.values(thing, 'n')).toEqual(expected)
    // Nothing of them is a retained message.
    const subscriber = await service.connectThing(thing)
    await subscriber.subscribeAll([writeTopicOf(thing.thingToken), `v2/things/${thing.thingToken}`])
    await subscriber.ping()
    expect(topicsReceived(subscriber)).toEqual([])
  })

  it('is that of its client alone: each has one', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const clients = [
      await service.connectThing(a, { clientId, will: willOf(a.thingToken, 'of a') }),
      await service.connectThing(b, { clientId, will: willOf(b.thingToken, 'of b') }),
      await service.connect({ clientId, will: willOf(b.thingToken, 'of an anonymous client') }),
      await service.connect({
        username: 'x',
        password: service.adminKey,
        will: willOf(a.thingId, 'of the admin'),
      }),
    ]
    const committed = [service.committed(a, 2), service.committed(b, 2)]
    for (const client of clients) await client.destroy()
    await Promise.all(committed)
    expect((await service.values(a, 'n')).toSorted()).toEqual(['of a', 'of the admin'])
    expect((await service.values(b, 'n')).toSorted()).toEqual(['of an anonymous client', 'of b'])
  })

  it('is not written after DISCONNECT', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const will = willOf(thing.thingToken, 'not this')
    for (const credential of [{ username: thing.thingToken }, {}]) {
      const client = await service.connect({ clientId, will, ...credential })
      expect(await wills(service)).toHaveLength(1)
      client.send({ cmd: 'disconnect' })
      await client.untilClosed()
      expect(await wills(service)).toEqual([])
    }
    // Most do not wait for the answer.
    await (await service.connectThing(thing, { clientId, will })).disconnect()
    await eventually(() => wills(service)).toEqual([])
    await loseAnother(service, thing)
    expect(await service.values(thing, 'n')).toEqual(['another'])
  })

  it('is not written after DISCONNECT, and neither is a write behind that', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const topic = writeTopicOf(thing.thingToken)
    for (const options of [{ will: willOf(thing.thingToken, 'not this') }, {}]) {
      const client = await service.connectThing(thing, { clientId, ...options })
      const behind = publishPacket(topic, reading('nor this'), { qos: 1, messageId: 9 })
      client.sendBytes(encodePackets({ cmd: 'disconnect' }, behind))
      await client.untilClosed()
      expect(client.acknowledgements).toEqual([])
    }
    await eventually(() => wills(service)).toEqual([])
    await loseAnother(service, thing)
    expect(await service.values(thing, 'n')).toEqual(['another'])
  })

  it('is neither kept nor written when CONNECT is refused', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const will = willOf(thing.thingToken, 'not this')
    const refused: [options: ConnectOptions, returnCode: number][] = [
      [{ username: 'device', password: 'unknown' }, 4],
      [{ clean: false }, 5],
      [{ clientId: 'a'.repeat(257) }, 2],
    ]
    for (const [options, returnCode] of refused) {
      const client = await service.connect({ ...options, will })
      expect(client.connack.returnCode).toBe(returnCode)
      await client.untilClosed()
    }
    expect(await wills(service)).toEqual([])
    await loseAnother(service, thing)
    expect(await service.values(thing, 'n')).toEqual(['another'])
  })

  it('of a CONNECT that was refused since the store was late is not written by the connection that comes next', async () => {
    const answered = createGate()
    let isFirst = true
    const service = await DoorService.start({
      alter: store =>
        alterPuts(store, put => async (...given) => {
          const result = await put(...given)
          const isLate = isFirst && Object.keys(given[0]).some(name => name.startsWith('mqtt-wills/'))
          if (isLate) {
            isFirst = false
            await answered.before?.()
          }
          return result
        }),
    })
    const thing = await service.createThing()
    const connect = (value: string) =>
      service.connectThing(thing, { clientId, will: willOf(thing.thingId, value) })
    const refused = await connect('refused')
    expect(refused.connack.returnCode).toBe(3)
    const client = await connect('offline')
    expect(client.connack.returnCode).toBe(0)
    answered.open()
    await client.publish(writeTopicOf(thing.thingId), reading('online'))
    expect(await service.values(thing, 'n')).toEqual(['online'])
    expect(await wills(service)).toHaveLength(1)
  })

  it('that is no valid write is told on errors like any other', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const subscriber = await service.connectThing(thing)
    await subscriber.subscribe(`things/${thing.thingId}/errors`)
    const will = { topic: writeTopicOf(thing.thingToken), payload: 'offline', retain: true }
    await (await service.connectThing(thing, { will })).destroy()
    await subscriber.next(({ cmd }) => cmd === 'publish')
    await eventually(() => wills(service)).toEqual([])
    const response = await fetch(`${service.url}/v2/things/${thing.thingToken}/errors`)
    const listed = [{ door: 'mqtt', reason: 'invalid_json', excerpt: 'offline' }]
    expect(await response.json()).toMatchObject(listed)
  })

  it('is dropped if the token that allowed it was removed since', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const { thingToken, tokenId } = await service.things.registry.addToken(thing.thingId)
    const ways = [
      { username: thingToken, will: willOf(thing.thingId, 'by id') },
      { username: thingToken, will: willOf(thingToken, 'by token') },
      { username: thing.thingToken, will: willOf(thingToken, 'of one that has another') },
      { will: willOf(thingToken, 'anonymous') },
    ]
    const clients = await Promise.all(ways.map(options => service.connect(options)))
    await service.things.registry.removeToken(thing.thingId, tokenId)
    for (const client of clients) await client.destroy()
    await eventually(() => wills(service)).toEqual([])
    expect(await service.values(thing, 'n')).toEqual([])
    expect(await service.things.refused.list(thing.thingId, 10)).toEqual([])
  })

  it('is dropped with its thing', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const admin = { username: 'operator', password: service.adminKey, will: willOf(thing.thingId, 'gone') }
    const client = await service.connect(admin)
    await service.things.registry.remove(thing.thingId)
    await client.destroy()
    await eventually(() => wills(service)).toEqual([])
    expect(await service.values(thing, 'n')).toEqual([])
  })

  it('that meets a store that is away is written when it is back', async () => {
    let failing = 0
    let failed = 0
    const service = await DoorService.start({
      alter: store =>
        alterAppends(store, append => async (...given) => {
          if (failed === failing) return await append(...given)
          failed++
          throw new ThingwireError('store_unavailable')
        }),
    })
    const thing = await service.createThing()
    const client = await service.connectThing(thing, { will: willOf(thing.thingToken, 'gone') })
    failing = 2
    const committed = service.committed(thing)
    await client.destroy()
    await committed
    expect(failed).toBe(2)
    expect(await service.values(thing, 'n')).toEqual(['gone'])
    await eventually(() => wills(service)).toEqual([])
  })

  it('is written once when the store is late to say that it has it', async () => {
    let appends = 0
    let triedAgain = () => {}
    const again = new Promise<void>(resolve => {
      triedAgain = resolve
    })
    const service = await DoorService.start({
      alter: store => {
        alterAppends(store, append => async (...given) => {
          const receipt = await append(...given)
          if (++appends > 1) triedAgain()
          else throw new ThingwireError('store_timeout')
          return receipt
        })
        const { documents } = store
        const transact = documents.transact.bind(documents)
        documents.transact = async (names, change) => {
          const result = await transact(names, change)
          if (names.some(name => name.startsWith('mqtt-wills/'))) triedAgain()
          return result
        }
      },
    })
    const thing = await service.createThing()
    const client = await service.connectThing(thing, { will: willOf(thing.thingToken, 'gone') })
    await client.destroy()
    await again
    expect(await service.values(thing, 'n')).toEqual(['gone'])
    expect(await wills(service)).toEqual([])
  })
})
