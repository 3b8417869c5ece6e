import type { Packet } from 'mqtt-packet'
import { expect } from 'vitest'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'
import { comer, type Duty, levels, messageOn, passed, receivedBy, tryDuties } from './house.ts'

const isLast = (topic: string, text: string) => (packet: Packet) =>
  packet.cmd === 'publish' && packet.topic === topic && String(packet.payload) === text

/** What a broker owes its clients of retained messages (MQTT-3.3.1-5 to -11). */

tryDuties([
  {
    name: 'a retained message comes to whoever subscribes later, and is replaced and removed',
    async run(house, base) {
      const publisher = await house.connect('here')
      const before = await house.connect('there')
      await before.subscribe(`${base}/#`, 1)
      await publisher.publish(`${base}/a`, 'old', { retain: true })
      await publisher.publish(`${base}/a`, 'new', { retain: true, qos: 2 })
      await publisher.publish(`${base}/b`, 'b', { retain: true })
      await publisher.publish(`${base}/c`, 'c', { retain: true, qos: 0 })
      await publisher.publish(`${base}/d`, 'not retained')
      await passed(publisher, before, `${base}/mark`)
      expect(before.received.filter(isOf('publish')).map(({ retain }) => retain)).not.toContain(true)

      const after = await house.connect('there')
      await after.subscribe(`${base}/#`, 1)
      const retained = [await messageOn(after, `${base}/a`), await messageOn(after, `${base}/b`)]
      retained.push(await messageOn(after, `${base}/c`))
      expect(retained.map(({ payload, qos, retain }) => `${payload} ${qos} ${retain}`)).toEqual([
        'new 1 true',
        'b 1 true',
        'c 0 true',
      ])
      await publisher.publish(`${base}/a`, '', { retain: true })
      expect(await messageOn(after, `${base}/a`)).toMatchObject({ retain: false })
      const last = await house.connect('there')
      await last.subscribeAll([`${base}/a`, `${base}/b`])
      await messageOn(last, `${base}/b`)
      await passed(publisher, last, `${base}/b`)
      expect(receivedBy(last)).toEqual([`${base}/b b 1`])
      // Once more to whoever subscribes again (MQTT-3.8.4-3).
      await last.subscribe(`${base}/b`, 0)
      expect(await messageOn(last, `${base}/b`)).toMatchObject({ qos: 0, retain: true })
    },
  },
  {
    name: 'a retained message comes once for a SUBSCRIBE, at the greatest QoS of the filters that overlap',
    async run(house, base) {
      const publisher = await house.connect('here')
      for (const topic of ['a', 'a/b', 'c']) {
        await publisher.publish(`${base}/${topic}`, topic, { retain: true, qos: 2 })
      }
      const again = await comer(house, `${base}-once`)
      for (const subscriber of [await house.connect('there'), await house.connect('there', again())]) {
        const filters = [`${base}/a`, `${base}/#`, `${base}/+`, `${base}/a/#`, `${base}/a`]
        await subscriber.subscribeTo(...filters.map((topic, n) => ({ topic, qos: n === 3 ? 2 : 1 }) as const))
        const received = [
          await messageOn(subscriber, `${base}/a`),
          await messageOn(subscriber, `${base}/a/b`),
          await messageOn(subscriber, `${base}/c`),
        ]
        expect(received.map(({ qos, retain }) => `${qos} ${retain}`)).toEqual(['2 true', '2 true', '1 true'])
        await passed(publisher, subscriber, `${base}/a`)
        expect(receivedBy(subscriber)).toHaveLength(3)
      }
    },
  },
  ...levels.map((qos): Duty => {
    return {
      name: `what is published with RETAIN at QoS ${qos} while clients subscribe, each gets once and in its order`,
      async run(house, base) {
        const publisher = await house.connect('here')
        const topics = ['a', 'b', 'c'].map(end => `${base}/${end}`)
        const [again, nodes] = [await comer(house, `${base}-meanwhile`), ['here', 'there'] as const]
        const subscribers = await Promise.all(
          Array.from({ length: 24 }, (_, n) =>
            house.connect(nodes[n % 2] ?? 'here', n % 4 < 2 ? { ...again(), clientId: `${base}-${n}` } : {}),
          ),
        )
        let isOver = false
        let published = 0
        const publishing = (async () => {
          for (; !isOver; published++) {
            for (const topic of topics) await publisher.publish(topic, `${published}`, { qos, retain: true })
            // At QoS 0 nothing else is waited for.
            await publisher.publish(`${base}/pace`, '')
          }
        })()
        for (const subscriber of subscribers) await subscriber.subscribeAll([`${base}/#`, `${base}/b`], 2)
        isOver = true
        await publishing
        const last = String(published - 1)
        for (const subscriber of subscribers) {
          await Promise.all(topics.map(topic => subscriber.next(isLast(topic, last))))
          await passed(publisher, subscriber, `${base}/passed`)
          for (const topic of topics) {
            const numbers = subscriber.received
              .filter(isMessageOn(topic))
              .map(({ payload }) => Number(payload))
            const [first = NaN] = numbers
            expect(numbers).toEqual(Array.from({ length: published - first }, (_, n) => first + n))
          }
        }
      },
    }
  }),
])
