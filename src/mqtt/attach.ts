import type { Aedes, AuthenticateError, Client } from 'aedes'
import { assertOptions, described } from '../core/options/given-options.ts'
import { type Pluggable, partsOf } from '../core/options/things-parts.ts'
import { type AttachOptions, attachRules } from './attach-options.ts'
import type { BrokerQuestion } from './doors/connect-door.ts'
import { MqttDoor } from './doors/mqtt-door.ts'
import type { MqttThings } from './mqtt-things.ts'
import type { Relay } from './relay/relay.ts'
import { isThingwireTopic } from './topics.ts'

const attached = new WeakSet<Aedes>()

/** Whether `attachThings` was called for the broker, and its `detach` was not. */
export function isAttached(broker: Aedes): boolean {
  return attached.has(broker)
}

/**
 * Opens the MQTT door (contract §7) on a broker that the caller owns: topics under `things/` and `v2/` are handled
 * here, the broker's own hooks are called for everything else.
 *
 * Call it when the broker listens, and before `broker.handle` is given to a server. A client that was connected before is
 * closed when it publishes on one of these topics. After `detach` they are topics like any other to the broker, and it
 * would ack and relay what things publish, tokens included: stop listening first, or refuse them in `authorizePublish`.
 *
 * @param things what `createThings` gives; `detach` does not close it
 * @param relay of topics beside those of things that clients of ours may use; of the ready server alone
 * @returns `detach`: finishes pending writes, closes the connections that Thingwire has authenticated, and puts
 * the broker's hooks back. The wills of those connections stay in the store for the next `attachThings`.
 * @throws Error if the broker does not listen, or is attached to already
 * @throws TypeError if the broker is no Aedes, `things` is no service, or of an option that is wrong or unknown
 */
export function attachThings(
  broker: Aedes,
  things: Pluggable<MqttThings>,
  options: AttachOptions = {},
  relay?: Relay,
): () => Promise<void> {
  assertServable(broker)
  const parts = partsOf('attachThings', things)
  assertOptions('attachThings', attachRules, options, '{ ownsBroker: true }')
  const door = new MqttDoor(parts, {
    ownsBroker: options.ownsBroker ?? false,
    maxPacketSize: options.maxPacketSize ?? 1024 * 1024,
    willGrace: options.willGrace ?? 30_000,
    drainTimeout: options.drainTimeout ?? 5_000,
    relay,
    addressOf: options.addressOf ?? addressOf,
    isDraining: options.isDraining ?? (() => false),
    onDefect: options.onDefect ?? (() => {}),
    onOutage: options.onOutage ?? (() => {}),
    onElsewhere: options.onElsewhere ?? (() => {}),
    // The event that the broker would have emitted.
    onSilent: client => void broker.emit('keepaliveTimeout', client),
    onRefused: (client, returnCode) =>
      void broker.emit('connackSent', { cmd: 'connack', sessionPresent: false, returnCode }, client),
  })
  const putHooksBack = replaceHooks(broker, door)
  attached.add(broker)
  let detaching: Promise<void> | undefined
  return () => {
    detaching ??= door.close(putHooksBack).finally(() => attached.delete(broker))
    return detaching
  }
}

function addressOf({ req, conn }: Client): string {
  const { remoteAddress } = req?.socket ?? (conn as { remoteAddress?: string })
  return remoteAddress || 'unknown'
}

function assertServable(broker: Aedes): void {
  if (typeof broker?.handle !== 'function' || typeof broker.preConnect !== 'function') {
    throw new TypeError(
      `attachThings needs an Aedes broker of version 1.2 or a later 1.x: the broker is ${described(broker)}`,
    )
  }
  if (broker.closed) {
    throw new Error('attachThings needs a broker that listens: await broker.listen() or Aedes.createBroker()')
  }
  if (attached.has(broker)) throw new Error('attachThings was called for this broker before: detach it first')
}

type Members = Pick<
  Aedes,
  'handle' | 'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
>

/**
 * Puts the door's hooks in the place of the broker's own, which are called for everything that is not the door's.
 *
 * @returns puts the broker's own back
 */
function replaceHooks(broker: Aedes, door: MqttDoor): () => void {
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
