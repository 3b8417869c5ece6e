import type { Client } from 'aedes'
import { aFunction, ifGiven, wholeNumber, yesOrNo } from '../core/options/option-kinds.ts'
import type { ThingwireError } from '../errors.ts'
import type { Relay } from './relay/relay.ts'

export interface AttachOptions {
  /**
   * Whether only Thingwire's clients use the broker. Default false: the host's hooks decide on all other clients. True: an unknown
   * credential is refused, and a connection without a credential is closed when it publishes on a foreign topic, or after 60 s
   * without a valid token. In both cases a publish of an authenticated client on a foreign topic is acknowledged, dropped and
   * reported (contract §7.7).
   */
  readonly ownsBroker?: boolean
  /** Largest packet, bytes of its announced length; on the host's topics too. Default 1 MiB. */
  readonly maxPacketSize?: number
  /** How long the clients of a process that has ended may take to return before their wills apply, milliseconds. Default 30,000. */
  readonly willGrace?: number
  /** How long a client's socket may accept no bytes before the connection is closed, milliseconds. Default 5,000. */
  readonly drainTimeout?: number
  /** The client's address, by which failed credentials are limited. Default: the remote address of its socket. */
  readonly addressOf?: (client: Client) => string
  /** Whether to refuse new connections (CONNACK 3). */
  readonly isDraining?: () => boolean
  /** Called with unexpected errors: faults of this program, not of a client or the store. */
  readonly onDefect?: (error: unknown) => void
  /** Called once per outage of the store that delays the end of a connection, such as its will. */
  readonly onOutage?: (error: unknown) => void
  /**
   * Called when the admin or a client of several things publishes or subscribes where it may not (`not_a_write_topic`,
   * `subscription_refused`): no thing's list has such a refusal. The message names the topic without secrets.
   */
  readonly onElsewhere?: (client: Client, error: ThingwireError) => void
}

export const attachRules = {
  ownsBroker: ifGiven(yesOrNo()),
  maxPacketSize: ifGiven(wholeNumber(1, Number.MAX_SAFE_INTEGER, 'bytes')),
  willGrace: ifGiven(wholeNumber(0, 2_147_483_647, 'ms')),
  drainTimeout: ifGiven(wholeNumber(1, 2_147_483_647, 'ms')),
  addressOf: ifGiven(aFunction()),
  isDraining: ifGiven(aFunction()),
  onDefect: ifGiven(aFunction()),
  onOutage: ifGiven(aFunction()),
  onElsewhere: ifGiven(aFunction()),
} as const satisfies Record<keyof AttachOptions, unknown>

export interface DoorOptions extends Required<AttachOptions> {
  /** Serves other topics; undefined: nobody does, or the host does. */
  readonly relay: Relay | undefined
  /** Called before a client is closed that sent nothing for one and a half keep-alives. */
  readonly onSilent: (client: Client) => void
  /** Called with a CONNACK that the broker did not send itself. */
  readonly onRefused: (client: Client, returnCode: number) => void
}
