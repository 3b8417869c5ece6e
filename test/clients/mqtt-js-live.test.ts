import { describe, expect, it } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { writeBothDoors } from './both-doors.ts'
import { type Message, recordValue } from './client.ts'
import { connectMqttJs, type MqttJsClient, persistent } from './mqtt-js.ts'
import { storedValues } from './stored.ts'

/** What mqtt.js does by itself when its connection breaks: it connects again and subscribes again. */

const server = serverOfTests()
const kinds = (['TCP', 'WebSocket'] as const).flatMap(transport =>
  ([4, 5] as const).map(version => ({ transport, version })),
)
const isLast = ({ payload }: Message) => payload.includes('"last"')

/** Breaks the connection under a client, which knows nothing of it, and waits until it is back. */
async function breakConnection({ client }: MqttJsClient): Promise<void> {
  const isBack = new Promise(resolve => client.once('connect', resolve))
  client.stream.destroy()
  await isBack
}

describe.each(kinds)(
  'a dashboard on mqtt.js over $transport in version $version',
  ({ transport, version }) => {
    it('gets many records of both doors in order and once', async () => {
      const thing = await createThing(server())
      const { client, inbox } = await connectMqttJs(server(), transport, { protocolVersion: version })
      await client.subscribeAsync(`things/${thing.thingToken}/values/n`, { qos: 1 })
      await writeBothDoors(server(), thing, { from: 0, to: 1_500 })
      await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
      const received = await inbox.until(isLast)
      expect(received.map(recordValue)).toEqual(await storedValues(server(), thing, 'n'))
    })

    it('that loses its connection again and again misses nothing in a persistent session', async () => {
      const thing = await createThing(server())
      const options = { ...persistent('again', version), username: thing.thingToken }
      const dashboard = await connectMqttJs(server(), transport, options)
      await dashboard.client.subscribeAsync(`things/${thing.thingToken}/values/n`, { qos: 1 })
      const writing = writeBothDoors(server(), thing, { from: 0, to: 800 })
      for (const count of [50, 150, 300, 500]) {
        await dashboard.inbox.first(count)
        await breakConnection(dashboard)
      }
      await writing
      await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
      const received = await dashboard.inbox.until(isLast)
      const live = received.filter(({ retain }) => !retain).map(recordValue)
      // What it had not acknowledged came again; in a set a value has the place of its first.
      expect([...new Set(live)]).toEqual(await storedValues(server(), thing, 'n'))
    })

    it('that loses its connection in a clean session finds the present in the retained view', async () => {
      const thing = await createThing(server())
      const dashboard = await connectMqttJs(server(), transport, { protocolVersion: version })
      const { client, inbox } = dashboard
      await client.subscribeAsync(`things/${thing.thingToken}/values/n`, { qos: 1 })
      await write(server(), thing, { values: [{ key: 'n', value: 'live' }] })
      await inbox.first(1)
      await breakConnection(dashboard)
      await inbox.first(2)
      await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
      const received = await inbox.until(isLast)
      expect(received.map(recordValue)).toEqual(['live', 'live', 'last'])
      expect(received.map(({ retain }) => retain)).toEqual([false, true, false])
    })

    it('that has unsubscribed gets nothing more', async () => {
      const thing = await createThing(server())
      const { client, inbox } = await connectMqttJs(server(), transport, { protocolVersion: version })
      const [values, whole] = [`things/${thing.thingToken}/values/n`, `v2/things/${thing.thingToken}`]
      await client.subscribeAsync([values, whole], { qos: 1 })
      await client.unsubscribeAsync(values)
      await write(server(), thing, { values: [{ key: 'n', value: 'last' }] })
      const received = await inbox.until(isLast)
      expect(received.map(({ topic }) => topic)).toEqual([whole])
    })
  },
)
