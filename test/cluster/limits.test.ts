import { describe, expect, it } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { nodesOfTests } from '../helpers/of-test.ts'

const writesPerSecond = 20
/** What a thing may write at once: 5 s of its rate. */
const burst = 5 * writesPerSecond

const cluster = nodesOfTests(2, { environment: { THINGWIRE_WRITES_PER_SECOND: String(writesPerSecond) } })

const body = { values: [{ key: 'temperature', value: 21.5 }] }

/**
 * Most writes that a thing can have had taken: its burst, its rate since it began, and what is on its way between the nodes:
 * what one takes while the other has not heard of it yet. Half a burst for that is wide; a limit on each node would let
 * through another whole one.
 */
function bound(began: number): number {
  const seconds = (performance.now() - began) / 1_000
  return burst + seconds * writesPerSecond + burst / 2
}

describe('a thing that writes through two nodes', () => {
  it('gets its rate over HTTP once, not once of each node', async () => {
    const thing = await createThing(cluster.node(0))
    const began = performance.now()
    let taken = 0
    for (let round = 0; round < 2 * burst; round++) {
      const answers = await Promise.all(cluster.nodes.map(node => write(node, thing, body)))
      for (const { status } of answers) {
        expect([201, 429]).toContain(status)
        if (status === 201) taken++
      }
    }
    expect(taken).toBeLessThan(bound(began))
    expect(taken).toBeGreaterThanOrEqual(burst)
  })

  it('waits at one node over MQTT for what it has written through the other', async () => {
    const thing = await createThing(cluster.node(0))
    const topic = `things/${thing.thingToken}/write`
    const [one, other] = await Promise.all(
      cluster.nodes.map(node => connectMqtt({ url: node.mqttUrl, username: thing.thingToken })),
    )
    if (!one || !other) throw new Error('there are two nodes')
    const began = performance.now()
    for (let round = 0; round < burst; round++) await one.publish(topic, body)
    await one.disconnect()
    // Each is acknowledged when its turn has come.
    for (let round = 0; round < burst; round++) await other.publish(topic, body)
    await other.disconnect()
    expect(2 * burst).toBeLessThan(bound(began))
  })
})
