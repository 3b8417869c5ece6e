import type { FastifyInstance } from 'fastify'
import type { Things } from 'thingwire'

/**
 * `GET /plant/readings`: what each thing of the plant wrote last. The host is told of every write itself, as a subscriber
 * over MQTT is: after its acknowledgement, in the order in which it was stored, and once.
 */
export function addReadingsRoute(app: FastifyInstance, things: Things): void {
  const readings = new Map<string, Record<string, unknown>>()
  // undefined: every thing
  things.live.subscribe(undefined, {
    deliver({ commit }) {
      const ofThing = readings.get(commit.thingId) ?? {}
      readings.set(commit.thingId, ofThing)
      // The value of a record is JSON text.
      for (const { key, value } of commit.records) ofThing[key] = JSON.parse(value)
    },
  })
  app.get('/plant/readings', async () => Object.fromEntries(readings))
}
