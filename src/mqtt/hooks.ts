import type { Aedes, AuthenticateError, Client } from 'aedes'
import { internalsOf } from './aedes-seams.ts'
import { type ConnectRefused, isScoped } from './connect.ts'
import type { MqttDoor } from './door.ts'
import { topicFor } from './subscriptions.ts'
import { isThingwireTopic } from './topics.ts'

type Hooks = Pick<
  Aedes,
  'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
>

/** Stands in for the subscriptions of a session that has none: Aedes tells a session by them. */
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
        door.connect(connection, packet).then(() => callback(null, true))
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
      if (isThingwireTopic(packet.topic)) callback(new Error('connect again: the MQTT door was opened since'))
      else authorizePublish.call(broker, client, packet, callback)
    },

    authorizeSubscribe: (client, subscription, callback) => {
      const connection = door.connectionOf(client)
      const isOurs = isThingwireTopic(subscription.topic) || (connection && !isHosts(client))
      if (!isOurs) {
        authorizeSubscribe.call(broker, client, subscription, callback)
        return
      }
      if (!connection || subscription.topic === sessionMark) {
        callback(null, null)
        return
      }
      door.grant(connection, subscription.topic).then(
        topic => {
          // Aedes goes on with this very object.
          if (topic !== undefined) subscription.topic = topic
          callback(null, topic === undefined ? null : subscription)
        },
        (error: Error) => callback(error),
      )
    },

    authorizeForward: (client, packet) => {
      if (!isThingwireTopic(packet.topic)) return authorizeForward.call(broker, client, packet)
      const connection = door.connectionOf(client)
      const topic = connection && topicFor(connection, packet.topic)
      return topic === undefined ? null : { ...packet, topic }
    },
  })

  const putPersistenceBack = replaceMembers(persistence, {
    async addSubscriptions(client, subscriptions) {
      if (!isScoped(client.id)) return await addSubscriptions.call(persistence, client, subscriptions)
      const connection = door.connectionOf(client as Client)
      // Gone before it was answered.
      if (!connection?.session) return
      // Aedes hands over the whole SUBSCRIBE, what was refused of it too.
      const granted = subscriptions.filter(({ topic }) => connection.granted.has(topic))
      for (const { topic, qos } of granted) connection.session.subscriptions.set(topic, { topic, qos })
      await addSubscriptions.call(persistence, client, granted)
      await door.sessions.save(connection.session)
    },
    async removeSubscriptions(client, topics) {
      await removeSubscriptions.call(persistence, client, topics)
      const session = door.connectionOf(client as Client)?.session
      if (!session?.isPersistent) return
      for (const topic of topics) session.subscriptions.delete(topic)
      await door.sessions.save(session)
    },
    // At CONNECT, of whom Aedes says the id alone.
    async subscriptionsByClient(client) {
      const session = door.sessions.find(client.id)
      if (!session?.isPersistent || !session.wasPresent) {
        return await subscriptionsByClient.call(persistence, client)
      }
      const subscriptions = [...session.subscriptions.values()]
      await addSubscriptions.call(persistence, client, subscriptions)
      return subscriptions.length > 0 ? subscriptions : [{ topic: sessionMark, qos: 0 }]
    },
  })

  return () => {
    isAttached = false
    putBrokerBack()
    putHooksBack()
    putPersistenceBack()
  }
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
