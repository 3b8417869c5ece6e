import type { Aedes, Client } from 'aedes'
import type { ThingwireError } from '../errors.ts'
import { MqttDoor } from './doors/mqtt-door.ts'
import { replaceHooks } from './host/hooks.ts'
import type { MqttThings } from './mqtt-things.ts'

export interface AttachOptions {
  /**
   * Whether nothing but Thingwire's clients connect to the broker. Default false: what is not Thingwire's is left
   * to the host's hooks. True: unknown credentials are refused, foreign topics close the connection, and a
   * connection without a credential ends after 60 s without a valid token.
   */
  readonly ownsBroker?: boolean
  /** Largest packet, bytes of its announced length; for all topics of the broker, the host's too. Default 1 MiB. */
  readonly maxPacketSize?: number
  /** How long the wills of a process that has ended wait for their clients, milliseconds. Default 30,000. */
  readonly willGrace?: number
  /** How long the socket of a client may take nothing of what is sent to it, milliseconds. Default 5,000. */
  readonly drainTimeout?: number
  /** Where a client is, for the limit of failed credentials. Default: the address at the other end of its socket. */
  readonly addressOf?: (client: Client) => string
  /** Whether new connections are to be refused (CONNACK 3). */
  readonly isDraining?: () => boolean
  /** Told of errors that are nobody's mistake but the program's. Default: nobody is told. */
  readonly onDefect?: (error: unknown) => void
  /** Told once an outage that the store is away, and what connections leave has to wait for it. Default: nobody is told. */
  readonly onOutage?: (error: unknown) => void
  /**
   * Told of what a client of several things, or the admin, published where it may not: it is acknowledged, and on no thing's list.
   * The message of the error names the topic, free of secrets. Default: nobody is told.
   */
  readonly onElsewhere?: (client: Client, error: ThingwireError) => void
}

const attached = new WeakSet<Aedes>()

/**
 * Opens the MQTT door (contract §7) on a broker that the caller owns: topics under `things/` and `v2/` are handled
 * here, the broker's own hooks are called for everything else.
 *
 * Call it when the broker listens, and before `broker.handle` is given to a server. A client that was connected before is
 * closed when it publishes on one of these topics. After `detach` they are topics like any other to the broker, and it
 * would ack and relay what things publish, tokens included: stop listening first, or refuse them in `authorizePublish`.
 *
 * @returns `detach`: finishes the writes in hand, closes the connections that Thingwire has authenticated, and puts
 * the broker's hooks back. The wills of those connections stay in the store for the next `attachThings`.
 * @throws Error if the broker is no Aedes, does not listen, or is attached to already
 */
export function attachThings(
  broker: Aedes,
  things: MqttThings,
  options: AttachOptions = {},
): () => Promise<void> {
  assertServable(broker)
  const door = new MqttDoor(things, {
    ownsBroker: options.ownsBroker ?? false,
    maxPacketSize: options.maxPacketSize ?? 1024 * 1024,
    willGrace: options.willGrace ?? 30_000,
    drainTimeout: options.drainTimeout ?? 5_000,
    addressOf: options.addressOf ?? addressOf,
    isDraining: options.isDraining ?? (() => false),
    onDefect: options.onDefect ?? (() => {}),
    onOutage: options.onOutage ?? (() => {}),
    onElsewhere: options.onElsewhere ?? (() => {}),
    // What the broker would tell, had it seen it.
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
  if (typeof broker.handle !== 'function' || typeof broker.preConnect !== 'function') {
    throw new Error('attachThings needs an Aedes broker of version 1.2 or a later 1.x')
  }
  if (broker.closed) {
    throw new Error('attachThings needs a broker that listens: await broker.listen() or Aedes.createBroker()')
  }
  if (attached.has(broker)) throw new Error('attachThings was called for this broker before: detach it first')
}
