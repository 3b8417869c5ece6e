import type { Client } from 'aedes'
import { aFunction, ifGiven, wholeNumber, yesOrNo } from '../core/options/option-kinds.ts'
import type { ThingwireError } from '../errors.ts'
import type { Relay } from './relay/relay.ts'

export interface AttachOptions {
  /**
   * Whether nothing but Thingwire's clients connect to the broker. Default false: what is not Thingwire's is left
   * to the host's hooks. True: unknown credentials are refused, and a connection without a credential is closed when it
   * publishes on a foreign topic, or after 60 s without a valid token. A client that has authenticated has a publish on a
   * foreign topic acknowledged, dropped and reported, here as there (contract §7.7).
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
  /** Called with errors that are nobody's mistake but the program's. Default: nobody. */
  readonly onDefect?: (error: unknown) => void
  /** Called once an outage that the store is away, and what connections leave has to wait for it. Default: nobody. */
  readonly onOutage?: (error: unknown) => void
  /**
   * Called with what a client of several things, or the admin, published or subscribed to where it may not (`not_a_write_topic`,
   * `subscription_refused`): it is on no thing's list. The message of the error names the topic, free of secrets. Default:
   * nobody.
   */
  readonly onElsewhere?: (client: Client, error: ThingwireError) => void
}

/** What they may be. */
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

/** Options of the door. */
export interface DoorOptions extends Required<AttachOptions> {
  /** Of topics beside those of things; undefined: there are none, or they are the host's. */
  readonly relay: Relay | undefined
  /** Called with a client that was silent for one and a half keep-alives, before it is closed. */
  readonly onSilent: (client: Client) => void
  /** Called with a CONNACK that the broker knows nothing of. */
  readonly onRefused: (client: Client, returnCode: number) => void
}
