import { createHash } from 'node:crypto'
import type { DocumentPut } from '../../core/ports.ts'
import type { Publish } from '../packets/packet.ts'
import type { MqttSession } from '../sessions/session.ts'
import { type InFlightDocument, type InFlightWrite, inFlightName } from '../sessions/session-documents.ts'

/** Stands for every write that is committed: one promise for all of the 65,535 that there may be. */
const committed = Promise.resolve()
/** Of a hash: as many as a number holds exactly. */
const digestBytes = 6

/** A QoS 2 PUBLISH that is not released. */
interface InFlightPacket {
  /** Digest of its target and payload; undefined until the target is known; `any` where none was stored. */
  write: number | 'any' | undefined
  /** Settles when its write is committed. */
  committing: Promise<unknown>
}

/** A packet that has come under a packet id. */
export interface Arrival {
  readonly packet: InFlightPacket
  /** The one that is not released and has come before under this id. */
  readonly before: InFlightPacket | undefined
  /** Settles when what is kept of the one before is gone, whose PUBCOMP is still owed. */
  readonly released: Promise<void> | undefined
}

/**
 * The QoS 2 packets of a connection that are not released, by packet id. All ids may be in use: clients send thousands of writes
 * before they read the first PUBREC.
 */
export class InFlight {
  readonly #packets = new Map<number, InFlightPacket>()
  /** There from PUBREL to PUBCOMP. */
  readonly #releasing = new Map<number, Promise<void>>()

  /** Of the session that the connection has: packets whose writes are stored. */
  resume(packets: readonly InFlightWrite[]): void {
    for (const [messageId, write = 'any'] of packets) {
      this.#packets.set(messageId, { write, committing: committed })
    }
  }

  /** @param deal of a packet that has come, what comes of its write */
  arrive(messageId: number, deal: (arrival: Arrival) => Promise<unknown>): Promise<unknown> {
    const packet: InFlightPacket = { write: undefined, committing: committed }
    const before = this.#packets.get(messageId)
    const dealing = deal({ packet, before, released: this.#releasing.get(messageId) })
    packet.committing = dealing
    this.#packets.set(messageId, packet)
    dealing.then(
      () => {
        packet.committing = committed
      },
      // With the connection, which it ends.
      () => {},
    )
    return dealing
  }

  /**
   * From here on the id may be used for another write (MQTT-4.3.3-2), even if the client does not wait for PUBCOMP.
   *
   * @param forget what is kept of a packet; called when its write is committed
   * @returns resolves when that is forgotten, again for one that comes twice; undefined: the id is not that of a write
   */
  release(messageId: number, forget: () => Promise<unknown>): Promise<void> | undefined {
    const packet = this.#packets.get(messageId)
    if (!packet) return this.#releasing.get(messageId)
    const release = packet.committing.then(async () => void (await forget()))
    this.#packets.delete(messageId)
    this.#releasing.set(messageId, release)
    release
      // The connection ends, and the client will release it again.
      .catch(() => {})
      .finally(() => this.#releasing.get(messageId) === release && this.#releasing.delete(messageId))
    return release
  }
}

/**
 * Notes what the packet writes, and says whether it is the packet before, sent again (contract §4.4 (d)).
 *
 * @param target thing or topic that it is for
 */
export function isResend(target: string, { dup, payload }: Publish, { packet, before }: Arrival): boolean {
  packet.write = digestOfWrite(target, payload)
  return dup && (before?.write === 'any' || before?.write === packet.write)
}

/** What is put with the write of a packet, so that its resend is known in a later connection; undefined: the session has none. */
export function inFlightDocuments(
  { clientId, isPersistent }: MqttSession,
  messageId: number,
  { packet }: Arrival,
): DocumentPut | undefined {
  if (!isPersistent || typeof packet.write !== 'number') return undefined
  const document: InFlightDocument = { write: packet.write }
  return { [inFlightName(clientId, messageId)]: document }
}

function digestOfWrite(target: string, body: Uint8Array): number {
  return createHash('sha256').update(`${target}/`).update(body).digest().readUIntBE(0, digestBytes)
}
