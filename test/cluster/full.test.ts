import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { nodesOfTests } from '../helpers/of-test.ts'

const cluster = nodesOfTests(2)

/** Sets what Redis may take, bytes; 0: all that there is. */
async function limitMemory(bytes: number): Promise<void> {
  const redis = new Redis(cluster.redis.url)
  await redis.config('SET', 'maxmemory', bytes)
  redis.disconnect()
}

describe('nodes whose Redis is full', () => {
  it('refuse writes at both doors, are ready to read and to remove, and take writes when there is room', async () => {
    const [one, other] = [cluster.node(0), cluster.node(1)]
    const thing = await createThing(one)
    const body = { values: [{ key: 'depth', value: 1, datetime: '20260101000000' }] }
    expect((await write(one, thing, body)).status).toBe(201)
    const kept = await readAll(one, thing, 'depth')
    const device = await connectMqtt({ url: other.mqttUrl, username: thing.thingToken })

    await limitMemory(1)
    onTestFinished(() => limitMemory(0))
    const more = { values: [{ key: 'depth', value: 2 }] }
    for (const node of cluster.nodes) {
      const refusal = await write(node, thing, more)
      expect(refusal.status).toBe(503)
      expect(refusal.headers.get('retry-after')).not.toBeNull()
      expect(await refusal.json()).toMatchObject({ reason: 'store_full' })
      expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
      expect(await readAll(node, thing, 'depth')).toEqual(kept)
    }
    await expect(device.publish(`things/${thing.thingToken}/write`, more)).rejects.toThrow()
    await device.untilClosed()
    const path = `${other.url}/v2/things/${thing.thingId}/resources/depth`
    const headers = { authorization: `Bearer ${cluster.adminKey}` }
    const removal = await fetch(path, { method: 'DELETE', headers })
    expect(await removal.json()).toEqual({ status: 'success', deleted: 1 })

    await limitMemory(0)
    expect((await write(other, thing, more)).status).toBe(201)
    expect((await readAll(one, thing, 'depth')).map(({ value }) => value)).toEqual([2])
  })
})
