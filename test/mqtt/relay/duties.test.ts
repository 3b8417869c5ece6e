import { expect } from 'vitest'
import { isOf, type Message, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { comer, levels, messageOn, passed, receivedBy, textOn, tryDuties } from './house.ts'

/** Resolves when it is kept that the client has acknowledged the one message that it has. */
async function ackKept(client: MqttClient, filter: string): Promise<void> {
  // The first SUBACK comes when the ack is taken, the second one when what was put before it is durable.
  for (let n = 0; n < 2; n++) await client.subscribe(filter, 1)
}

tryDuties([
  {
    name: 'a message comes at the lesser QoS of message and subscription',
    async run(house, base) {
      const publisher = await house.connect('here')
      for (const asked of levels) {
        const subscriber = await house.connect('there')
        expect(await subscriber.subscribe(`${base}/#`, asked)).toBe(asked)
        for (const qos of levels) {
          await publisher.publish(`${base}/a`, `${qos}`, { qos })
          const message = await messageOn(subscriber, `${base}/a`)
          expect(message).toMatchObject({ qos: Math.min(asked, qos), retain: false, dup: false })
        }
      }
    },
  },
  {
    name: 'messages of one client at one QoS come in their order, each once',
    async run(house, base) {
      const again = await comer(house, `${base}-order`)
      const subscribers = [await house.connect('there'), await house.connect('there', again())]
      for (const subscriber of subscribers) await subscriber.subscribe(`${base}/#`, 2)
      const publisher = await house.connect('here')
      const count = 150
      for (const qos of levels) {
        const packets = Array.from({ length: count }, (_, n) =>
          publishPacket(`${base}/${qos}`, String(n), { qos, messageId: qos * 1_000 + n + 1 }),
        )
        publisher.send(...packets)
        for (let n = 0; n < count && qos === 2; n++) {
          await publisher.next(isOf('pubrec', 2_001 + n))
          publisher.send({ cmd: 'pubrel', messageId: 2_001 + n })
        }
      }
      for (const subscriber of subscribers) {
        for (const qos of levels) {
          for (let n = 0; n < count; n++) expect(await textOn(subscriber, `${base}/${qos}`)).toBe(String(n))
        }
        await passed(publisher, subscriber, `${base}/end`)
        expect(receivedBy(subscriber)).toHaveLength(3 * count)
      }
    },
  },
  {
    name: 'a will comes when its client is lost, and not when it takes leave',
    async run(house, base) {
      const watcher = await house.connect('there')
      await watcher.subscribe(`${base}/#`, 2)
      const willOf = (payload: string, retain = false) => ({
        will: { topic: `${base}/will`, payload, qos: 2 as const, retain },
      })
      await (await house.connect('here', willOf('left'))).takeLeave()
      await (await house.connect('here', willOf('lost', true))).destroy()
      expect(await messageOn(watcher, `${base}/will`)).toMatchObject({ qos: 2, retain: false })
      expect(receivedBy(watcher)).toEqual([`${base}/will lost 2`])
      const later = await house.connect('there')
      await later.subscribe(`${base}/will`)
      expect(await messageOn(later, `${base}/will`)).toMatchObject({ retain: true })
      // It is published before the client that takes over gets on.
      const again = await comer(house, `${base}-will`)
      const first = await house.connect('here', { ...again(true), ...willOf('taken over') })
      await house.connect('there', again(true))
      await first.untilClosed()
      expect(await textOn(watcher, `${base}/will`)).toBe('taken over')
    },
  },
  {
    name: 'a session keeps subscriptions and messages of QoS 1 and 2, in their order',
    async run(house, base) {
      const again = await comer(house, `${base}-away`)
      const first = await house.connect('there', again())
      expect(first.connack.sessionPresent).toBe(false)
      await first.subscribeTo({ topic: `${base}/a`, qos: 2 }, { topic: `${base}/b`, qos: 1 })
      await first.subscribe(`${base}/zero`, 0)
      await first.disconnect()
      const publisher = await house.connect('here')
      for (let n = 0; n < 20; n++) await publisher.publish(`${base}/a`, `${n}`, { qos: 2 })
      for (let n = 0; n < 20; n++) await publisher.publish(`${base}/b`, `${n}`, { qos: 2 })
      await publisher.publish(`${base}/a`, 'not kept', { qos: 0 })
      await publisher.publish(`${base}/zero`, 'not kept')
      const second = await house.connect('there', again())
      expect(second.connack.sessionPresent).toBe(true)
      await passed(publisher, second, `${base}/b`)
      const numbers = Array.from({ length: 20 }, (_, n) => n)
      const expected = [...numbers.map(n => `${base}/a ${n} 2`), ...numbers.map(n => `${base}/b ${n} 1`)]
      expect(receivedBy(second)).toEqual(expected)
      await second.disconnect()
      const third = await house.connect('there', again())
      await passed(publisher, third, `${base}/b`)
      expect(receivedBy(third)).toEqual([])
      await third.disconnect()
      const fourth = await house.connect('there', again(true))
      expect(fourth.connack.sessionPresent).toBe(false)
      await fourth.subscribe(`${base}/end`)
      await passed(publisher, fourth, `${base}/end`)
      await publisher.publish(`${base}/b`, 'to nobody')
      await fourth.disconnect()
      const fifth = await house.connect('there', again())
      expect(fifth.connack.sessionPresent).toBe(false)
    },
  },
  {
    name: 'what is not acknowledged is sent again under its packet id',
    async run(house, base) {
      const again = await comer(house, `${base}-again`)
      const first = await house.connect('there', again())
      await first.subscribe(`${base}/#`, 2)
      first.acknowledges = false
      const publisher = await house.connect('here')
      await publisher.publish(`${base}/one`, '1')
      await publisher.publish(`${base}/two`, '2', { qos: 2 })
      await publisher.publish(`${base}/received`, '3', { qos: 2 })
      const [one, two, received] = [
        await messageOn(first, `${base}/one`),
        await messageOn(first, `${base}/two`),
        await messageOn(first, `${base}/received`),
      ]
      const messageId = received.messageId ?? 0
      first.send({ cmd: 'pubrec', messageId })
      await first.next(isOf('pubrel', messageId))
      await first.destroy()
      const second = await house.connect('there', again())
      await passed(publisher, second, `${base}/end`)
      const sentAgain = second.received.filter(isOf('publish')).slice(0, 2)
      expect(sentAgain).toMatchObject([
        { topic: one.topic, messageId: one.messageId, dup: true, qos: 1 },
        { topic: two.topic, messageId: two.messageId, dup: true, qos: 2 },
      ])
      await second.next(isOf('pubrel', messageId))
      expect(receivedBy(second)).toHaveLength(2)
    },
  },
  {
    name: 'a client that connects again takes its session over',
    async run(house, base) {
      const again = await comer(house, `${base}-taken`)
      const first = await house.connect('here', again())
      await first.subscribe(`${base}/#`, 1)
      const publisher = await house.connect('here')
      await publisher.publish(`${base}/a`, 'first')
      expect(await textOn(first, `${base}/a`)).toBe('first')
      await ackKept(first, `${base}/#`)
      const second = await house.connect('there', again())
      await first.untilClosed()
      expect(second.connack.sessionPresent).toBe(true)
      await publisher.publish(`${base}/a`, 'second')
      expect(await textOn(second, `${base}/a`)).toBe('second')
    },
  },
  {
    name: 'what is acknowledged after a takeover does not come again where it was sent first',
    async run(house, base) {
      const again = await comer(house, `${base}-returned`)
      const first = await house.connect('here', again())
      await first.subscribe(`${base}/#`, 1)
      first.acknowledges = false
      const publisher = await house.connect('here')
      await publisher.publish(`${base}/a`, 'once')
      await messageOn(first, `${base}/a`)
      const second = await house.connect('there', again())
      await first.untilClosed()
      await messageOn(second, `${base}/a`)
      await ackKept(second, `${base}/#`)
      await second.disconnect()
      const third = await house.connect('here', again())
      await passed(publisher, third, `${base}/end`)
      expect(receivedBy(third)).toEqual([])
    },
  },
  {
    name: 'filters that overlap give one copy at the greatest QoS, live and of what is kept',
    async run(house, base) {
      const again = await comer(house, `${base}-overlap`)
      const subscribe = async (client: MqttClient) => {
        await client.subscribeTo({ topic: `${base}/#`, qos: 0 }, { topic: `${base}/a`, qos: 1 })
        await client.subscribe(`${base}/+`, 2)
      }
      const publisher = await house.connect('here')
      const clean = await house.connect('there')
      const first = await house.connect('there', again())
      for (const client of [clean, first]) await subscribe(client)
      await publisher.publish(`${base}/a`, 'live', { qos: 2 })
      for (const client of [clean, first]) await passed(publisher, client, `${base}/a`)
      for (const client of [clean, first]) expect(receivedBy(client)).toEqual([`${base}/a live 2`])
      await first.unsubscribe(`${base}/+`)
      await first.disconnect()
      await publisher.publish(`${base}/a`, 'kept', { qos: 2 })
      const second = await house.connect('there', again())
      await passed(publisher, second, `${base}/a`)
      expect(receivedBy(second)).toEqual([`${base}/a kept 1`])
      await second.unsubscribe(`${base}/a`)
      await second.disconnect()
      await publisher.publish(`${base}/a`, 'not kept', { qos: 2 })
      const third = await house.connect('there', again())
      await publisher.publish(`${base}/b`, 'at zero', { qos: 2 })
      expect(await messageOn(third, `${base}/b`)).toMatchObject({ qos: 0 })
      expect(receivedBy(third)).toEqual([`${base}/b at zero 0`])
    },
  },
  {
    name: 'levels may be empty, # matches the level above, and $ is a letter below the first level',
    async run(house, base) {
      const publisher = await house.connect('here')
      const subscriber = await house.connect('there')
      expect(
        await subscriber.subscribeAll([
          `${base}//x`,
          `${base}/`,
          `${base}/p/#`,
          `${base}/s/+`,
          `${base}/e/+/f`,
        ]),
      ).toEqual([1, 1, 1, 1, 1])
      const topics = ['//x', '/', '/p', '/p/', '/p/q/r', '/s/$x', '/s/', '/e//f'].map(end => base + end)
      for (const topic of topics) await publisher.publish(topic, 'y')
      for (const topic of [`${base}/x`, `${base}/s`, `${base}/e/f`, base]) await publisher.publish(topic, 'n')
      await passed(publisher, subscriber, `${base}/p`)
      expect(receivedBy(subscriber)).toEqual(topics.map(topic => `${topic} y 1`))
    },
  },
  {
    name: 'nobody sees or publishes what begins with $, nor shares a subscription',
    async run(house, base) {
      const client = await house.connect('here')
      const watcher = await house.connect('there')
      expect(
        await watcher.subscribeAll([
          '$SYS/#',
          '$SYS/+/new/clients',
          '$share/g/house/#',
          '#',
          '+/#',
          '$house/#',
        ]),
      ).toEqual([128, 128, 128, 128, 128, 128])
      await watcher.subscribe(`${base}/#`)
      await client.publish('$SYS/x', 'x')
      await client.publish('$house/x', 'x')
      await passed(client, watcher, `${base}/end`)
      expect(receivedBy(watcher)).toEqual([])
    },
  },
  {
    name: 'the largest packet passes, and bytes are as they were',
    async run(house, base) {
      const publisher = await house.connect('here')
      const subscriber = await house.connect('there')
      await subscriber.subscribe(`${base}/#`, 2)
      const topic = `${base}/large`
      const overhead = 2 + Buffer.byteLength(topic) + 2
      const payload = Buffer.alloc(
        house.maxPacketSize - overhead,
        Uint8Array.from({ length: 256 }, (_, n) => n),
      )
      await publisher.publish(topic, payload, { qos: 2 })
      const { payload: received } = await messageOn(subscriber, topic)
      expect(payload.equals(received)).toBe(true)
      await publisher.publish(topic, '')
      expect((await messageOn(subscriber, topic)).payload).toHaveLength(0)
      publisher.send(publishPacket(topic, Buffer.alloc(payload.length + 1), { messageId: 9 }))
      await publisher.untilClosed()
    },
  },
  {
    name: 'filters of one SUBSCRIBE are answered one by one, thousands of them',
    async run(house, base) {
      const again = await comer(house, `${base}-thousands`)
      const subscriber = await house.connect('there', again())
      const filters = Array.from({ length: 4_000 }, (_, n) => `${base}/${n}/+`)
      for (let from = 0; from < filters.length; from += 500) {
        const asked = filters.slice(from, from + 500).flatMap((filter, n) => [filter, `other/${n}`])
        expect(await subscriber.subscribeAll(asked, 1)).toEqual(asked.map((_, n) => (n % 2 ? 128 : 1)))
      }
      const publisher = await house.connect('here')
      for (const n of [0, 1_700, 3_999]) await publisher.publish(`${base}/${n}/x`, `${n}`)
      for (const n of [0, 1_700, 3_999]) expect(await textOn(subscriber, `${base}/${n}/x`)).toBe(`${n}`)
      await subscriber.unsubscribe(...filters.slice(0, 3_999))
      await publisher.publish(`${base}/1700/x`, 'no more')
      await publisher.publish(`${base}/3999/x`, 'still')
      expect(await textOn(subscriber, `${base}/3999/x`)).toBe('still')
      expect(receivedBy(subscriber)).toHaveLength(4)
      await subscriber.disconnect()
      await publisher.publish(`${base}/3999/x`, 'kept')
      const second = await house.connect('there', again())
      expect(await textOn(second, `${base}/3999/x`)).toBe('kept')
    },
  },
  {
    name: 'every switch of a house answers',
    async run(house, base) {
      const plugs = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const plug = await house.connect(n % 2 ? 'here' : 'there')
          await plug.subscribe(`${base}/cmnd/plug${n}/#`, 1)
          return plug
        }),
      )
      const ends = ['LWT', 'STATE', 'SENSOR', 'INFO1', 'INFO2', 'INFO3', 'RESULT', 'POWER', 'STATUS']
      const filters = plugs.flatMap((_, n) => ends.map(end => `${base}/stat/plug${n}/${end}`))
      const program = await house.connect('here')
      expect(await program.subscribeAll(filters, 0)).toEqual(filters.map(() => 0))
      for (const n of plugs.keys()) await program.publish(`${base}/cmnd/plug${n}/POWER`, 'ON')
      for (const [n, plug] of plugs.entries()) {
        expect(await textOn(plug, `${base}/cmnd/plug${n}/POWER`)).toBe('ON')
        await plug.publish(`${base}/stat/plug${n}/POWER`, 'ON')
        expect(await textOn(program, `${base}/stat/plug${n}/POWER`)).toBe('ON')
      }
    },
  },
  {
    name: 'a QoS 2 message that is sent twice comes once',
    async run(house, base) {
      const again = await comer(house, `${base}-twice`)
      const subscriber = await house.connect('there')
      await subscriber.subscribe(`${base}/#`, 2)
      const first = await house.connect('here', again())
      await first.publishUntilPubrec(`${base}/a`, 'once', { messageId: 7 })
      first.send(publishPacket(`${base}/a`, 'once', { qos: 2, messageId: 7, dup: true }))
      await first.next(isOf('pubrec', 7))
      await first.destroy()
      const second = await house.connect('here', again())
      await second.publishUntilPubrec(`${base}/a`, 'once', { messageId: 7, dup: true })
      await second.release(7)
      await second.publish(`${base}/a`, 'another', { qos: 2, messageId: 7 })
      await passed(second, subscriber, `${base}/a`)
      expect(receivedBy(subscriber)).toEqual([`${base}/a once 2`, `${base}/a another 2`])
    },
  },
  {
    name: 'a message comes to its own publisher if that is subscribed',
    async run(house, base) {
      const client = await house.connect('here')
      await client.subscribe(`${base}/a`)
      await client.publish(`${base}/a`, 'mine')
      const message: Message = await messageOn(client, `${base}/a`)
      expect(String(message.payload)).toBe('mine')
    },
  },
])
