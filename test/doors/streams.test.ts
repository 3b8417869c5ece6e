import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import { openStream } from '../http/stream-client.ts'
import { startService } from './service.ts'

describe('a chunked stream', () => {
  it('gives the bytes that MQTT gives on v2/things/<ref>, of writes through either door', async () => {
    const server = await startService()
    onTestFinished(() => server.close())
    const thing = await createThing(server)
    const topic = `v2/things/${thing.thingToken}`
    const device = await connectMqtt({ url: server.mqttUrl })
    const dashboard = await connectMqtt({ url: server.webSocketUrl })
    expect(await dashboard.subscribe(topic)).toBe(1)
    const stream = await openStream(`${server.url}/${topic}`)
    expect(await stream.next()).toBe('{"status":"success","message":"subscribed"}')
    const bodies = [
      { values: [{ value: 21.5, key: 'a', datetime: '20261121T093000' }] },
      {
        values: [
          { key: 'a', value: 'ü\n', geo: { lat: '1.50', long: 2 } },
          { key: '$geo', value: [2, 1] },
        ],
      },
      { values: [{ key: 'b', value: null, geo: { long: 2, lat: 1 }, datetime: null }], store: false },
      { values: [{ key: '$settings.name', value: { deep: [1e3, -0] } }] },
    ]
    for (const body of bodies) {
      await write(server, thing, body)
      await device.publish(`things/${thing.thingToken}/write`, body)
      await device.publish(topic, body, { qos: 2 })
    }
    for (let count = 0; count < bodies.length * 3; count++) {
      // The second and third copy of a record with a datetime are no new ones.
      if (count === 1 || count === 2) continue
      const message = await dashboard.next(isMessageOn(topic))
      expect(await stream.next()).toBe(message.payload.toString())
    }
    await Promise.all([device.disconnect(), dashboard.disconnect()])
  })
})
