import type { Aedes, Client } from 'aedes'
import type { FastifyInstance } from 'fastify'

/**
 * What this host had before Thingwire came: users of its own, topics of its own under `plant/`, and a route that
 * says how the machines are.
 */

/** Name and password of those who may connect. Only the controller publishes. */
const users: ReadonlyMap<string, string> = new Map([
  ['controller', 'controller password'],
  ['panel', 'panel password'],
])

/** Puts the plant's own rules onto its broker. */
export function addPlantRules(broker: Aedes): void {
  const nameOf = new WeakMap<Client, string>()

  broker.authenticate = (client, name = '', password, done) => {
    const isKnown = users.has(name) && users.get(name) === password?.toString()
    if (isKnown) nameOf.set(client, name)
    done(null, isKnown)
  }

  broker.authorizePublish = (client, packet, done) => {
    const mayPublish = client === null || nameOf.get(client) === 'controller'
    done(mayPublish && isPlantTopic(packet.topic) ? null : new Error('not for you'))
  }

  broker.authorizeSubscribe = (client, subscription, done) => {
    done(null, nameOf.has(client) && isPlantTopic(subscription.topic) ? subscription : null)
  }
}

/** `GET /plant/machines`: the last message of each machine that has sent one. */
export async function addPlantRoute(app: FastifyInstance, broker: Aedes): Promise<void> {
  const machines = new Map<string, string>()
  await new Promise<void>(resolve => {
    const note = (packet: { topic: string; payload: Buffer | string }, done: () => void) => {
      machines.set(packet.topic, packet.payload.toString())
      done()
    }
    broker.subscribe('plant/#', note, resolve)
  })
  app.get('/plant/machines', async () => Object.fromEntries(machines))
}

function isPlantTopic(topic: string): boolean {
  return topic.startsWith('plant/')
}
