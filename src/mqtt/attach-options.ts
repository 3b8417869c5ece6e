import type { Client } from 'aedes'
import { aFunction, ifGiven, wholeNumber, yesOrNo } from '../core/options/option-kinds.ts'
import type { ThingwireError } from '../errors.ts'
import type { Relay } from './relay/relay.ts'

export interface AttachOptions {
  /**
   * Whether the broker serves only Thingwire's clients. Default false: the host's hooks decide about all other clients. If true, an
   * unknown credential is refused, and a connection without a credential is closed when it publishes outside Thingwire's topics,
   * or after 60 s without a valid token. With either value, a publish of an authenticated client outside Thingwire's topics is
   * acknowledged, dropped and reported (contract §7.7).
   */
  readonly ownsBroker?: boolean
  /** Maximum length that a packet may announce, bytes; also on the host's topics. Default 1 MiB. */
  readonly maxPacketSize?: number
  /** The same for a source (contract §7.12), after its CONNECT. Default 8 MiB. */
  readonly sourcePacketSize?: number
  /** Milliseconds that clients have to reconnect after their server process has ended, before their wills apply. Default 30,000. */
  readonly willGrace?: number
  /** How long a client's socket may accept no bytes before the connection is closed, milliseconds. Default 5,000. */
  readonly drainTimeout?: number
  /** The client's address; failed credentials are limited per address. Default: the remote address of the client's socket. */
  readonly addressOf?: (client: Client) => string
  /** Whether to refuse new connections (CONNACK 3). */
  readonly isDraining?: () => boolean
  /** Called with unexpected errors: faults of this program, not of a client or the store. */
  readonly onDefect?: (error: unknown) => void
  /** Called once per outage of the store that delays work at the end of a connection, such as writing the client's will. */
  readonly onOutage?: (error: unknown) => void
  /**
   * Called when the admin or a client of several things publishes or subscribes where it is not allowed to (`not_a_write_topic`,
   * `subscription_refused`). These refusals are not listed under a thing. The message names the topic without secrets.
   */
  readonly onElsewhere?: (client: Client, error: ThingwireError) => void
}

export const attachRules = {
  ownsBroker: ifGiven(yesOrNo()),
  maxPacketSize: ifGiven(wholeNumber(1, Number.MAX_SAFE_INTEGER, 'bytes')),
  sourcePacketSize: ifGiven(wholeNumber(1, Number.MAX_SAFE_INTEGER, 'bytes')),
  willGrace: ifGiven(wholeNumber(0, 2_147_483_647, 'ms')),
  drainTimeout: ifGiven(wholeNumber(1, 2_147_483_647, 'ms')),
  addressOf: ifGiven(aFunction()),
  isDraining: ifGiven(aFunction()),
  onDefect: ifGiven(aFunction()),
  onOutage: ifGiven(aFunction()),
  onElsewhere: ifGiven(aFunction()),
} as const satisfies Record<keyof AttachOptions, unknown>

export interface DoorOptions extends Required<AttachOptions> {
  /** Serves topics that are not Thingwire's; undefined if the host serves them, or nobody does. */
  readonly relay: Relay | undefined
  /** Called with a client that sent no packet for 1.5 times its keep-alive, before its connection is closed. */
  readonly onSilent: (client: Client) => void
  /** Called when Thingwire, not the broker, refuses a client with a CONNACK. */
  readonly onRefused: (client: Client, returnCode: number) => void
}
