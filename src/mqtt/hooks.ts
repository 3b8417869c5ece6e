import type { Aedes, AuthenticateError, Client } from 'aedes'
import type { BrokerQuestion } from './doors/connect-door.ts'
import type { MqttDoor } from './doors/mqtt-door.ts'
import { isThingwireTopic } from './topics.ts'

type Members = Pick<
  Aedes,
  'handle' | 'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
>

/**
 * Puts the door's hooks in the place of the broker's own, which are called for everything that is not the door's.
 *
 * @returns puts the broker's own back
 */
export function replaceHooks(broker: Aedes, door: MqttDoor): () => void {
  const { handle, preConnect, authenticate, authorizePublish, authorizeSubscribe, authorizeForward } = broker
  let isAttached = true
  const questions = new WeakMap<Client, (question: BrokerQuestion) => void>()
  const putBack = replaceMembers<Members>(broker, {
    // A server that was given this function goes on using it.
    handle: (stream, request) =>
      isAttached ? door.onConnection(stream, side => handle(side, request)) : handle(stream, request),

    preConnect: (client, packet, callback) => {
      if (!door.knows(client)) {
        callback(new Error('broker.handle was given to a server before attachThings was called'), false)
        return
      }
      const handToBroker = () =>
        new Promise<BrokerQuestion>(resolve => {
          questions.set(client, resolve)
          callback(null, true)
        })
      // First the host's own, for every client: it may let in certain addresses only.
      preConnect.call(broker, client, packet, (error, mayGoOn) => {
        if (error || !mayGoOn) callback(error, mayGoOn)
        else void door.connect(client, packet, handToBroker)
      })
    },

    // From here on the broker asks its persistence, which is nothing to a client of ours.
    authenticate: (client, username, password, callback) => {
      const askHost = () => authenticate.call(broker, client, username, password, callback)
      const onQuestion = questions.get(client)
      if (!onQuestion) return askHost()
      onQuestion({
        accept: () => callback(null, true),
        refuse: refusal => callback(refusal as AuthenticateError, false),
        askHost,
      })
    },

    // Publishes on topics of ours never come so far, but for those of clients that were there before the door.
    authorizePublish: (client, packet, callback) => {
      if (isThingwireTopic(packet.topic))
        callback(new Error('the client must connect again: attachThings was called after its connection'))
      else authorizePublish.call(broker, client, packet, callback)
    },

    // Nor do such subscriptions; the host itself may subscribe a client.
    authorizeSubscribe: (client, subscription, callback) => {
      const isOurs = door.knows(client) && !door.isHosts(client)
      if (isThingwireTopic(subscription.topic)) callback(null, null)
      else if (isOurs) callback(null, door.mayRelay(client, subscription.topic) ? subscription : null)
      else authorizeSubscribe.call(broker, client, subscription, callback)
    },

    // What is ours does not go through the broker.
    authorizeForward: (client, packet) => {
      if (isThingwireTopic(packet.topic)) return null
      const relayed = door.relayed(client, packet)
      return relayed === undefined ? authorizeForward.call(broker, client, packet) : relayed
    },
  })
  const onReady = (client: Client) => door.onReady(client)
  broker.on('clientReady', onReady)
  return () => {
    isAttached = false
    putBack()
    broker.off('clientReady', onReady)
  }
}

/** Gives an object other members. Returns how to put back its own ones, and to uncover those that it inherited. */
function replaceMembers<Replaced extends object>(target: Replaced, members: Replaced): () => void {
  const names = Object.keys(members) as (keyof Replaced)[]
  const own = names.map(name => [name, Object.getOwnPropertyDescriptor(target, name)] as const)
  Object.assign(target, members)
  return () => {
    for (const [name, descriptor] of own) {
      if (descriptor) Object.defineProperty(target, name, descriptor)
      else delete target[name]
    }
  }
}
