import type { Client } from 'aedes'
import type { Principal } from '../access/principal.ts'
import type { Hold } from '../core/holds.ts'
import type { Observer } from '../core/observer.ts'
import { strikeOut } from '../core/refusals/redactor.ts'
import { hashToken, isToken } from '../core/token.ts'
import { Acks } from './acks.ts'
import type { InboundPacket } from './aedes-seams.ts'
import type { Admission, ConnectRefused } from './connect.ts'
import { Inbound, type InHand } from './inbound.ts'
import { LiveClient, type LiveClientParts } from './live-client.ts'
import type { ReadingTime } from './reading-time.ts'
import type { Session } from './session.ts'
import type { Will } from './will-documents.ts'

export interface ConnectionHandlers {
  /** Looks at each packet of a connected client before Aedes does; returns whether it is taken. */
  onPacket(connection: Connection, packet: InboundPacket): boolean | Promise<void>
  readonly maxPacketSize: number
  readonly inHandOfAll: InHand
  readonly readingTime: ReadingTime
  /** Where it gets its live messages from. */
  readonly live: Pick<LiveClientParts, 'live' | 'clock' | 'drainTimeout'>
  readonly observer: Observer | undefined
  /** Whether its client may see a thing. */
  maySee(connection: Connection, thingId: string): Promise<boolean>
}

/** A will of the connection, and in whose name it is kept. */
export interface KeptWill {
  readonly name: string
  readonly will: Omit<Will, 'node' | 'holder'>
  readonly hold: Hold | undefined
}

let opened = 0

/** One network connection, and what is known of who is at its other end. */
export class Connection {
  /** Greater than that of every connection that was opened before. */
  readonly place = ++opened
  readonly client: Client
  readonly inbound: Inbound
  readonly acks: Acks
  readonly live: LiveClient
  /** On the clock of `performance.now()`, milliseconds. */
  readonly openedAt = performance.now()
  /** Whom its credential names; known before it is decided whether it is let in. */
  principal: Principal | undefined
  /** From CONNECT on, before it is answered. */
  admission: Admission | undefined
  /** Resolves when what was begun for CONNECT is done. */
  admitting: Promise<void> | undefined
  /** How CONNECT is to be answered, if not well. */
  refusal: ConnectRefused | undefined
  session: Session | undefined
  /** That it acts for its client, if that is a principal's. */
  hold: Hold | undefined
  /** Of an anonymous client, that it acts for it: by thing id, of each thing whose token it has used. */
  holdsOfThings: Map<string, Hold> | undefined
  /** It is closed for what others have done: another connection has taken its client over, its credential was revoked. */
  isDismissed = false
  /** It is gone, and nothing of it is under way any more. */
  isLeft = false
  will: KeptWill | undefined
  /** A DISCONNECT was received: the will does not apply (MQTT-3.14.4-3). */
  hasTakenLeave = false
  /** Filters of the SUBSCRIBE that is being dealt with, as the client spells them: with ids, if they are granted. */
  granted: ReadonlyMap<string, string> = new Map()
  /** By thing id, the spelling of its latest subscription (contract §7). */
  readonly spellings = new Map<string, string>()
  /**
   * SHA-256 of every token that the connection has used, by token. It relies on a token in a topic even if it has another
   * credential: nobody knows with which of the two its client goes on.
   */
  readonly #reliedOn = new Map<string, string>()

  constructor(client: Client, handlers: ConnectionHandlers) {
    this.client = client
    this.inbound = new Inbound(client, {
      maxPacketSize: handlers.maxPacketSize,
      inHandOfAll: handlers.inHandOfAll,
      readingTime: handlers.readingTime,
      onPacket: packet => handlers.onPacket(this, packet),
      unreadAnswers: () => this.live.unreadAnswers,
      onUnread: () => this.live.watch(),
    })
    this.live = new LiveClient({
      ...handlers.live,
      client,
      nextMessageId: () => this.inbound.nextMessageId(),
      maySee: thingId => handlers.maySee(this, thingId),
      spellingOf: thingId => this.spellings.get(thingId) ?? thingId,
    })
    this.acks = new Acks(
      client,
      handlers.readingTime,
      (packets, bytes) => this.inbound.finished(packets, bytes),
      handlers.observer,
    )
  }

  /** In whose name it writes to a thing; undefined: in nobody's, since it is a client of the host. */
  holdOf(thingId: string): Hold | undefined {
    return this.hold ?? this.holdsOfThings?.get(thingId)
  }

  /** Whether nothing is left to be taken before it writes to a thing that its client may write to. */
  actsFor(thingId: string): boolean {
    return this.holdOf(thingId) !== undefined || this.admission?.kind === 'host'
  }

  /** Whether its client has shown a credential that counts. */
  get hasProven(): boolean {
    return this.principal !== undefined || this.holdsOfThings !== undefined
  }

  /** To be called before it is asked what the token allows, so that it cannot be revoked unnoticed in between. */
  relyOn(credential: string): void {
    // No other credential can be revoked while the server runs.
    if (this.#reliedOn.has(credential) || !isToken(credential)) return
    this.#reliedOn.set(credential, hashToken(credential))
  }

  /** @param hashes SHA-256 of tokens */
  reliesOnAny(hashes: ReadonlySet<string>): boolean {
    for (const hash of this.#reliedOn.values()) if (hashes.has(hash)) return true
    return false
  }

  /** Whether it relies on any credential that can be revoked. */
  get reliesOnSome(): boolean {
    return this.#reliedOn.size > 0
  }

  /** A text of the client without the tokens that it has presented, whole or cut, in whatever spelling. */
  strikeOut(text: string): string {
    let struck = text
    for (const token of this.#reliedOn.keys()) struck = strikeOut(token, struck)
    return struck
  }

  /** Ends the connection without an ack; the client is to come again. */
  close(error: Error): void {
    this.inbound.stop()
    this.client.conn.destroy(error)
  }
}
