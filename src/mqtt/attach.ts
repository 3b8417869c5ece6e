import type { Aedes, Client } from 'aedes'
import { assertOptions, described } from '../core/options/given-options.ts'
import { type Pluggable, partsOf } from '../core/options/things-parts.ts'
import { type AttachOptions, attachRules } from './attach-options.ts'
import { MqttDoor } from './doors/mqtt-door.ts'
import { replaceHooks } from './hooks.ts'
import type { MqttThings } from './mqtt-things.ts'
import type { Relay } from './relay/relay.ts'

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
