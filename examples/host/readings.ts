import type { FastifyInstance } from 'fastify'
import type { Things } from 'thingwire'

/**
 * `GET /plant/readings`: what each thing of the plant wrote last. The host hears of every record itself, as a subscriber
 * over MQTT does: after its commit, in the order in which it was stored, and once.
 */
export function addReadingsRoute(app: FastifyInstance, things: Things): void {
  const readings = new Map<string, Record<string, unknown>>()
  things.on('reading', ({ thingId, key, value }) => {
    readings.set(thingId, { ...readings.get(thingId), [key]: value })
  })
  app.get('/plant/readings', async () => Object.fromEntries(readings))
}
