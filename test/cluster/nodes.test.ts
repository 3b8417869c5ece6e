import { describe, expect, it } from 'vitest'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { nodesOfTests } from '../helpers/of-test.ts'

const cluster = nodesOfTests(2)

describe('two nodes', () => {
  it('take writes of one thing through either door of either, and read the same', async () => {
    const [one, other] = [cluster.node(0), cluster.node(1)]
    const thing = await createThing(one)
    expect((await write(other, thing, { values: [{ key: 'n', value: 1 }] })).status).toBe(201)
    expect((await write(one, thing, { values: [{ key: 'n', value: 2 }] })).status).toBe(201)
    for (const [index, { mqttUrl }] of cluster.nodes.entries()) {
      const client = await connectMqtt({ url: mqttUrl, username: thing.thingToken })
      await client.publish(`things/${thing.thingToken}/write`, { values: [{ key: 'n', value: 3 + index }] })
      await client.disconnect()
    }
    const read = await readAll(one, thing, 'n')
    expect(read.map(({ value }) => value).toSorted()).toEqual([1, 2, 3, 4])
    expect(await readAll(other, thing, 'n')).toEqual(read)
  })
})
