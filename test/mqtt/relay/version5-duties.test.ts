import type { IPublishPacket } from 'mqtt-packet'
import { expect } from 'vitest'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { comer, type Duty, everything, type House, levels, messageOn, passed, tryDuties } from './house.ts'

const version5 = { protocolVersion: 5 } as const
const kept = { properties: { sessionExpiryInterval: 600 } }
const properties = {
  ...{ payloadFormatIndicator: true, contentType: 'text/plain', responseTopic: 'house/answers' },
  ...{ correlationData: Buffer.from([0, 1, 255]), userProperties: { b: ['2', '1'], a: '3' } },
}

function seen({ properties: { subscriptionIdentifier: _, ...rest } = {} }: IPublishPacket) {
  return { ...rest, userProperties: { ...rest.userProperties } }
}

const textOf = ({ payload }: IPublishPacket) => payload.toString()

/** The texts that a client has got on a topic, with the identifier of each copy, in order. */
function copiesTo(client: MqttClient, topic: string): string[] {
  return client.received
    .filter(isOf('publish'))
    .filter(message => message.topic === topic)
    .map(message => `${textOf(message)} ${message.properties?.subscriptionIdentifier ?? '-'}`)
}

/** A client of version 5 that comes again under the same id. */
async function comer5(house: House, clientId: string) {
  const options = (await comer(house, clientId))()
  return { ...options, ...version5, ...kept }
}

/** With readings of a thing and with messages on another topic, which have the value in the same place. */
function versionChanges(): Duty[] {
  const kinds = {
    'readings of a thing': async (house: House) => {
      const { thingId, thingToken: password } = await house.createThing()
      const body = (value: string) => ({ values: [{ key: 'n', value }] })
      return { password, to: `things/${thingId}/write`, from: `things/${thingId}/values/n`, body }
    },
    'messages on another topic': async (house: House, base: string) => {
      const password = await house.passwordFor(everything)
      return { password, to: `${base}/a`, from: `${base}/a`, body: (value: string) => ({ value }) }
    },
  }
  const changes = Object.entries(kinds).flatMap(([kind, open]) => [
    { kind, open, qos: 1 as const },
    { kind, open, qos: 2 as const },
  ])
  return changes.map(({ kind, open, qos }) => ({
    name: `a session goes from 3.1.1 to 5 and back, and loses and doubles no ${kind} of QoS ${qos}`,
    run: async (house, base) => {
      const { password, to, from, body } = await open(house, base)
      const three = { username: 'x', password, clientId: `both ${qos}`, clean: false }
      const five = { ...three, ...version5, ...kept }
      const first = await house.connect('here', three)
      await first.subscribe(from, qos)
      const publisher = await house.connect('there', { username: 'x', password })
      // Once the client has a live message, it is owed no retained one.
      await Promise.all([messageOn(first, from), publisher.publish(to, body('first'), { qos })])
      await first.ping()
      await first.disconnect()
      let sent = 0
      const publish = async () => {
        const values = Array.from({ length: 20 }, () => `${sent++}`)
        for (const value of values) await publisher.publish(to, body(value), { qos })
        return values
      }
      for (const [node, options] of [
        ['there', five],
        ['here', three],
        ['here', five],
        ['there', three],
      ] as const) {
        const missed = await publish()
        const client = await house.connect(node, options)
        expect(client.connack.sessionPresent).toBe(true)
        const values = [...missed, ...(await publish())]
        const got: unknown[] = []
        for (const _ of values) got.push(JSON.parse(textOf(await messageOn(client, from))).value)
        expect(got).toEqual(values)
        await client.ping()
        expect(client.received.filter(isOf('publish'))).toHaveLength(values.length)
        await client.disconnect()
      }
    },
  }))
}

const duties: readonly Duty[] = [
  {
    name: 'properties go along unaltered from another node, and 3.1.1 gets the payload',
    run: async (house, base) => {
      const [reader, old] = [await house.connect('here', version5), await house.connect('here')]
      for (const client of [reader, old]) await client.subscribe(`${base}/#`, 2)
      const publisher = await house.connect('there', version5)
      for (const qos of levels) {
        await publisher.publish(`${base}/${qos}`, 'text', { qos, properties })
        const message = await messageOn(reader, `${base}/${qos}`)
        expect(seen(message)).toEqual(properties)
        expect(message).toMatchObject({ qos, payload: Buffer.from('text') })
        expect(await messageOn(old, `${base}/${qos}`)).toMatchObject({ qos, payload: Buffer.from('text') })
      }
    },
  },
  {
    name: 'properties are kept, sent again, and retained, on whichever node the client comes back',
    run: async (house, base) => {
      const options = { ...(await comer5(house, 'kept')), acknowledges: false }
      const away = await house.connect('here', options)
      await away.subscribe(`${base}/kept/#`, 2)
      await away.destroy()
      const publisher = await house.connect('there', version5)
      for (const qos of [1, 2] as const)
        await publisher.publish(`${base}/kept/${qos}`, 'text', { qos, properties })
      await publisher.publish(`${base}/retained`, 'text', { retain: true, properties })
      for (const node of ['here', 'there', 'here'] as const) {
        const client = await house.connect(node, options)
        for (const qos of [1, 2] as const) {
          const message = await messageOn(client, `${base}/kept/${qos}`)
          expect(message).toMatchObject({ qos, payload: Buffer.from('text') })
          expect(seen(message)).toEqual(properties)
        }
        await client.destroy()
      }
      const late = await house.connect('here', version5)
      await late.subscribe(`${base}/retained`, 2)
      const message = await messageOn(late, `${base}/retained`)
      expect([message.retain, seen(message)]).toEqual([true, properties])
    },
  },
  {
    name: 'each subscription identifier gets a copy, live from another node and kept, once',
    run: async (house, base) => {
      const options = await comer5(house, 'copies')
      const reader = await house.connect('here', options)
      await reader.subscribeAs(7, { topic: `${base}/#`, qos: 2 })
      await reader.subscribeAs(300, { topic: `${base}/a`, qos: 1 })
      const publisher = await house.connect('there', version5)
      for (const text of ['1', '2']) await publisher.publish(`${base}/a`, text)
      await passed(publisher, reader, `${base}/mark`)
      const live = copiesTo(reader, `${base}/a`)
      expect(live.filter(copy => copy.endsWith(' 7'))).toEqual(['1 7', '2 7'])
      expect(live.filter(copy => copy.endsWith(' 300'))).toEqual(['1 300', '2 300'])
      await reader.ping()
      await reader.destroy()
      for (const text of ['3', '4']) await publisher.publish(`${base}/a`, text)
      const back = await house.connect('there', options)
      await passed(publisher, back, `${base}/mark`)
      const missed = copiesTo(back, `${base}/a`)
      expect(missed.filter(copy => copy.endsWith(' 7'))).toEqual(['3 7', '4 7'])
      expect(missed.filter(copy => copy.endsWith(' 300'))).toEqual(['3 300', '4 300'])
    },
  },
  {
    name: 'a will comes with its properties at another node, when its delay is over',
    run: async (house, base) => {
      const reader = await house.connect('there', version5)
      await reader.subscribe(`${base}/will`, 1)
      const will = { topic: `${base}/will`, payload: 'gone', qos: 1 as const, retain: true }
      const options = { ...(await comer5(house, 'testator')), ...kept }
      const withDelay = { will: { ...will, properties: { ...properties, willDelayInterval: 1 } } }
      await (await house.connect('here', { ...options, ...withDelay })).destroy()
      const message = await messageOn(reader, `${base}/will`)
      expect([textOf(message), seen(message)]).toEqual(['gone', properties])
      const late = await house.connect('here', version5)
      await late.subscribe(`${base}/will`, 1)
      expect(seen(await messageOn(late, `${base}/will`))).toEqual(properties)
    },
  },
  {
    name: 'Message Expiry is counted down, and what is over is neither kept nor retained for another node',
    run: async (house, base) => {
      const options = await comer5(house, 'expiry')
      const away = await house.connect('here', options)
      await away.subscribe(`${base}/kept/#`, 1)
      await away.destroy()
      const publisher = await house.connect('here', version5)
      for (const [name, messageExpiryInterval] of [
        ['over', 1],
        ['long', 100],
      ] as const) {
        await publisher.publish(`${base}/kept/${name}`, name, { properties: { messageExpiryInterval } })
        const retained = { retain: true, properties: { messageExpiryInterval } }
        await publisher.publish(`${base}/retained/${name}`, name, retained)
      }
      await new Promise(resolve => setTimeout(resolve, 1_500))
      const back = await house.connect('there', options)
      await back.subscribe(`${base}/retained/#`, 1)
      const got = [await back.next(isOf('publish')), await back.next(isOf('publish'))]
      expect(got.map(message => textOf(message))).toEqual(['long', 'long'])
      for (const { properties } of got) expect(properties?.messageExpiryInterval).toBeLessThan(100)
      await passed(publisher, back, `${base}/kept/mark`)
      expect(copiesTo(back, `${base}/kept/over`)).toEqual([])
      expect(copiesTo(back, `${base}/retained/over`)).toEqual([])
    },
  },
  {
    name: 'Retain As Published and Retain Handling hold on whichever node the client comes back',
    run: async (house, base) => {
      const options = await comer5(house, 'retain')
      const publisher = await house.connect('here', version5)
      await publisher.publish(`${base}/a`, 'retained', { retain: true })
      for (const [node, shown] of [
        ['here', ['retained true']],
        ['there', []],
      ] as const) {
        const reader = await house.connect(node, options)
        await reader.subscribeTo({ topic: `${base}/a`, qos: 1, rap: true, rh: 1 })
        await reader.subscribeTo({ topic: `${base}/+`, qos: 1, rh: 2 })
        await publisher.publish(`${base}/a`, 'retained', { retain: true })
        await passed(publisher, reader, `${base}/mark`)
        const flags = reader.received
          .filter(isOf('publish'))
          .filter(({ topic }) => topic === `${base}/a`)
          .map(({ payload, retain }) => `${payload} ${retain}`)
        expect(flags).toEqual([...shown, 'retained true'])
        await reader.ping()
        await reader.destroy()
      }
    },
  },
  {
    name: 'No Local keeps a message from its publisher, also while it is away',
    run: async (house, base) => {
      const options = await comer5(house, 'local')
      const both = await house.connect('here', options)
      await both.subscribeTo({ topic: `${base}/a`, qos: 1, nl: true })
      const witness = await house.connect('there', version5)
      await witness.subscribe(`${base}/a`)
      await both.publish(`${base}/a`, 'own')
      expect(textOf(await messageOn(witness, `${base}/a`))).toBe('own')
      await both.destroy()
      const back = await house.connect('there', options)
      await witness.publish(`${base}/a`, 'other')
      expect(textOf(await messageOn(back, `${base}/a`))).toBe('other')
      expect(copiesTo(back, `${base}/a`)).toEqual(['other -'])
    },
  },
  ...versionChanges(),
  {
    name: 'a session of no expiry ends with its connection on whichever node',
    run: async (house, base) => {
      const options = await comer5(house, 'ended')
      await (await house.connect('here', options)).destroy()
      const last = await house.connect('there', { ...options, properties: {} })
      expect(last.connack.sessionPresent).toBe(true)
      await last.subscribe(`${base}/a`)
      const taking = await house.connect('here', { ...options, properties: {} })
      expect(taking.connack.sessionPresent).toBe(false)
      await last.untilClosed()
      expect(last.received.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8e })
    },
  },
]

tryDuties(duties)
