import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { Aedes, AuthenticateError, Client } from 'aedes'
import { internalsOf } from './aedes-seams.ts'
import { type ConnectRefused, isScoped } from './connect.ts'
import type { MqttDoor } from './door.ts'
import { markRefused } from './subscribe-to-aedes.ts'
import { isThingwireTopic } from './topics.ts'

type Hooks = Pick<
  Aedes,
  'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
>

/**
 * Stands in for the subscriptions of a session: Aedes tells by them that there is one. A client that does not hear of its
 * session may throw away its writes without an ack.
 */
const sessionMark = 'things/session'

/**
 * Puts the door's hooks in the place of the broker's own, which are called for everything that is not the door's.
 *
 * @returns puts the broker's own back
 */
export function replaceHooks(broker: Aedes, door: MqttDoor): () => void {
  const internals = internalsOf(broker)
  const { handle, persistence } = internals
  const { preConnect, authenticate, authorizePublish, authorizeSubscribe, authorizeForward } = broker
  const { addSubscriptions, removeSubscriptions, subscriptionsByClient } = persistence
  const { createRetainedStreamCombi, outgoingStream } = persistence
  const isHosts = (client: Client) => door.connectionOf(client)?.admission?.kind === 'host'
  let isAttached = true
  const putBrokerBack = replaceMembers(internals, {
    handle: (stream, request) => {
      const client = handle(stream, request)
      // A server that was given this function goes on using it.
      if (isAttached) door.welcome(client)
      return client
    },
    // Scoped ids are longer than MQTT 3.1 allows; the door holds clients to it.
    maxClientsIdLength: 65_535,
  })

  const putHooksBack = replaceMembers<Hooks>(broker, {
    preConnect: (client, packet, callback) => {
      const connection = door.connectionOf(client)
      if (!connection) {
        const error = new Error('broker.handle was given to a server before attachThings was called')
        callback(error, false)
        return
      }
      // First the host's own, for every client: it may let in certain addresses only.
      preConnect.call(broker, client, packet, (error, mayGoOn) => {
        if (error || !mayGoOn) {
          callback(error, mayGoOn)
          return
        }
        door.connecting.connect(connection, packet).then(() => callback(null, true))
      })
    },
    authenticate: (client, username, password, callback) => {
      const connection = door.connectionOf(client)
      if (connection?.refusal) callback(connection.refusal as ConnectRefused & AuthenticateError, false)
      else if (connection?.admission && !isHosts(client)) callback(null, true)
      else authenticate.call(broker, client, username, password, callback)
    },

    // Publishes on topics of ours never come so far, but for those of clients that were there before the door.
    authorizePublish: (client, packet, callback) => {
      if (isThingwireTopic(packet.topic))
        callback(new Error('the client must connect again: attachThings was called after its connection'))
      else authorizePublish.call(broker, client, packet, callback)
    },

    // The door has looked at the SUBSCRIBE before Aedes got it.
    authorizeSubscribe: (client, subscription, callback) => {
      const connection = door.connectionOf(client)
      const isOurs = isThingwireTopic(subscription.topic) || (connection && !isHosts(client))
      if (!isOurs) {
        authorizeSubscribe.call(broker, client, subscription, (error, granted) => {
          if (!granted) markRefused(subscription)
          callback(error, granted)
        })
        return
      }
      const filter = connection?.granted.get(subscription.topic)
      // Aedes goes on with this very object.
      if (filter !== undefined) subscription.topic = filter
      else markRefused(subscription)
      callback(null, filter === undefined ? null : subscription)
    },

    // What is ours does not go through the broker.
    authorizeForward: (client, packet) =>
      isThingwireTopic(packet.topic) ? null : authorizeForward.call(broker, client, packet),
  })

  const putPersistenceBack = replaceMembers(persistence, {
    async addSubscriptions(client, subscriptions) {
      if (!isScoped(client.id)) await addSubscriptions.call(persistence, client, subscriptions)
    },
    async removeSubscriptions(client, topics) {
      if (!isScoped(client.id)) await removeSubscriptions.call(persistence, client, topics)
    },
    // At CONNECT, of whom Aedes says the id alone.
    async subscriptionsByClient(client) {
      if (!isScoped(client.id)) return await subscriptionsByClient.call(persistence, client)
      return door.sessions.find(client.id)?.wasPresent ? [{ topic: sessionMark, qos: 0 }] : []
    },
    // What is queued for clients of ours is not Aedes' affair.
    outgoingStream(client) {
      return isScoped(client.id) ? nothing() : outgoingStream.call(persistence, client)
    },
    createRetainedStreamCombi(filters) {
      const hosts = filters.filter(filter => !isThingwireTopic(filter))
      return hosts.length === 0 ? nothing() : createRetainedStreamCombi.call(persistence, hosts)
    },
  })

  const events: EventEmitter = broker
  const onConnected = (client: Client) => door.onConnected(client)
  const onSubscribed = (_: unknown, client: Client) => door.onSubscribed(client)
  events.on('clientReady', onConnected)
  events.on('subscribe', onSubscribed)

  return () => {
    isAttached = false
    putBrokerBack()
    putHooksBack()
    putPersistenceBack()
    events.off('clientReady', onConnected)
    events.off('subscribe', onSubscribed)
  }
}

/** Without the closures that `Readable.from([])` makes in V8's old generation, at each CONNECT. */
function nothing(): Readable {
  return new Readable({
    objectMode: true,
    read() {
      this.push(null)
    },
  })
}

/** Gives an object other members. Returns how to put back its own ones, and to uncover those that it inherited. */
function replaceMembers<Target extends object>(target: Target, members: Partial<Target>): () => void {
  const names = Object.keys(members) as (keyof Target)[]
  const own = names.map(name => [name, Object.getOwnPropertyDescriptor(target, name)] as const)
  Object.assign(target, members)
  return () => {
    for (const [name, descriptor] of own) {
      if (descriptor) Object.defineProperty(target, name, descriptor)
      else delete target[name]
    }
  }
}
