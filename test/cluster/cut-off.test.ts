import { expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { ask, createThing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { pathOfTest } from '../helpers/of-test.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'
import { StreamClient } from '../http/stream-client.ts'

it('a node that cannot reach Redis closes what relies on credentials, which may be revoked elsewhere', async () => {
  const redis = await redisOfTest()
  const path = await pathOfTest(redis.port)
  const adminKey = createToken()
  const [here, there] = [
    await startNode(redis.url, adminKey),
    await startNode(`redis://127.0.0.1:${path.port}`, adminKey),
  ]
  onTestFinished(async () => void (await Promise.all([here.kill(), there.kill()])))
  const thing = await createThing(here)
  const mqtt = await connectMqtt({ url: there.mqttUrl, username: thing.thingToken, deadline: 50_000 })
  await mqtt.subscribe(`things/${thing.thingId}/values/+`)
  const streams = await Promise.all(
    ['application/json', 'text/event-stream'].map(accept =>
      StreamClient.open(`${there.url}/v2/things/${thing.thingToken}`, { accept }),
    ),
  )
  for (const stream of streams) expect(await stream.head()).toContain(' 200 ')
  path.swallow()
  await ask(here, 'DELETE', `/v2/admin/things/${thing.thingId}`)
  const closed = Promise.all([mqtt.untilClosed(), ...streams.map(stream => stream.closed)])
  expect(await closed).toEqual([undefined, 'cut', 'cut'])
  path.restore()
  await expect
    .poll(async () => (await fetch(`${there.url}/v2/things/${thing.thingToken}/resources`)).status)
    .toBe(401)
})
