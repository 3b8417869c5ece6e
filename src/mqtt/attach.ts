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

/** Whether `attachThings` was called for the broker, and `detach` has not finished. */
export function isAttached(broker: Aedes): boolean {
  return attached.has(broker)
}

/**
 * Opens the MQTT door (contract §7) on a broker that the caller owns. Thingwire handles topics under `things/` and `v2/`; for all
 * other topics, the broker's own hooks are called.
 *
 * Call this once the broker listens, and before a server gets `broker.handle`: a client that connected earlier is disconnected when
 * it publishes on a Thingwire topic. After `detach`, the broker treats Thingwire topics like any other topic: it acknowledges
 * and relays what things publish, including tokens. So stop listening first, or refuse these topics in `authorizePublish`.
 *
 * @param things result of `createThings`; `detach` does not close it
 * @param relay serves other topics to Thingwire's clients; only the ready server has one
 * @returns `detach`: finishes pending writes, closes the connections that Thingwire has authenticated, and restores the broker's
 * hooks. The wills of those connections stay in the store for the next `attachThings`.
 * @throws Error if the broker does not listen, or is already attached
 * @throws TypeError if the broker is not an Aedes broker, `things` is not a service, or an option is wrong or unknown
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
    sourcePacketSize: options.sourcePacketSize ?? 8 * 1024 * 1024,
    willGrace: options.willGrace ?? 30_000,
    drainTimeout: options.drainTimeout ?? 5_000,
    relay,
    addressOf: options.addressOf ?? addressOf,
    isDraining: options.isDraining ?? (() => false),
    onDefect: options.onDefect ?? (() => {}),
    onOutage: options.onOutage ?? (() => {}),
    onElsewhere: options.onElsewhere ?? (() => {}),
    // Hosts listen for the events that Aedes would have emitted.
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
      `attachThings needs an Aedes broker of version 1.2 or a later 1.x, but the broker is ${described(broker)}`,
    )
  }
  if (broker.closed) {
    throw new Error('attachThings needs a broker that listens: await broker.listen() or Aedes.createBroker()')
  }
  if (attached.has(broker))
    throw new Error('attachThings was already called for this broker: call detach first')
}

const givenEarly =
  'a client is refused: broker.handle was given to a server before attachThings was called: call attachThings first, then create the server'

type Members = Pick<
  Aedes,
  'handle' | 'preConnect' | 'authenticate' | 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'
>

/** Replaces the broker's hooks with the door's. @returns a function that restores the broker's hooks */
function replaceHooks(broker: Aedes, door: MqttDoor): () => void {
  const { handle, preConnect, authenticate, authorizePublish, authorizeSubscribe, authorizeForward } = broker
  let isAttached = true
  let isWarned = false
  const questions = new WeakMap<Client, (question: BrokerQuestion) => void>()
  const putBack = replaceMembers<Members>(broker, {
    // A server that was given this function keeps calling it after `detach`.
    handle: (stream, request) =>
      isAttached ? door.onConnection(stream, side => handle(side, request)) : handle(stream, request),

    preConnect: (client, packet, callback) => {
      if (!door.knows(client)) {
        // Warns, because the broker itself only emits `connectionError`, for which few hosts listen.
        if (!isWarned) process.emitWarning(givenEarly)
        isWarned = true
        callback(new Error(givenEarly), false)
        return
      }
      const handToBroker = () =>
        new Promise<BrokerQuestion>(resolve => {
          questions.set(client, resolve)
          callback(null, true)
        })
      // The host's hook is called first, for every client: it may admit only certain addresses.
      preConnect.call(broker, client, packet, (error, mayGoOn) => {
        if (error || !mayGoOn) callback(error, mayGoOn)
        else void door.connect(client, packet, handToBroker)
      })
    },

    // The door answers before Aedes asks its persistence, which knows nothing about Thingwire's clients.
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

    // Only a client that connected before `attachThings` was called gets here with a Thingwire topic.
    authorizePublish: (client, packet, callback) => {
      if (isThingwireTopic(packet.topic))
        callback(new Error('the client must connect again: attachThings was called after its connection'))
      else authorizePublish.call(broker, client, packet, callback)
    },

    // For a client of Thingwire, this is called only if the relay or the host subscribes the client.
    authorizeSubscribe: (client, subscription, callback) => {
      const isOurs = door.knows(client) && !door.isHosts(client)
      if (isThingwireTopic(subscription.topic)) callback(null, null)
      else if (isOurs) callback(null, door.mayRelay(client, subscription.topic) ? subscription : null)
      else authorizeSubscribe.call(broker, client, subscription, callback)
    },

    // Messages on Thingwire topics do not pass through the broker.
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

/** Overrides members of an object. @returns a function that restores own members, and deletes overrides of inherited members */
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
