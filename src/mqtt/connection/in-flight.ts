import { createHash } from 'node:crypto'
import type { DocumentPut } from '../../core/ports.ts'
import type { Publish } from '../packets/packet.ts'
import type { MqttSession } from '../sessions/session.ts'
import { type InFlightDocument, type InFlightWrite, inFlightName } from '../sessions/session-documents.ts'

/** Shared by all committed writes to save memory: a connection may have 65,535 unreleased packets. */
const committed = Promise.resolve(true)
/** Length of a digest, bytes. `readUIntBE` can read no more than six. */
const digestBytes = 6

/** A QoS 2 PUBLISH that the client has not released with PUBREL yet. */
interface InFlightPacket {
  /** Digest of target and payload; undefined until the target is known; `any` if the stored document has no digest. */
  write: number | 'any' | undefined
  /** Set if the records of a source's message may be stored, but the message is not relayed: their write id. */
  readonly id?: string | undefined
  /** Settles when the packet's write does: resolves with whether the packet was stored, and not refused for good. */
  committing: Promise<boolean>
  isRefused?: true
}

export interface Arrival {
  readonly packet: InFlightPacket
  /** The earlier packet with the same id, if it is not released yet. */
  readonly before: InFlightPacket | undefined
  /** Set if a packet with this id is released but its PUBCOMP is not sent yet. Settles when that packet's document is removed. */
  readonly released: Promise<unknown> | undefined
}

/** Unreleased QoS 2 packets by packet id. All ids may be in use: some clients send thousands of packets before reading a PUBREC. */
export class InFlight {
  readonly #packets = new Map<number, InFlightPacket>()
  /** For each packet between PUBREL and PUBCOMP: the removal of its document, by packet id. */
  readonly #releasing = new Map<number, Promise<boolean>>()

  /** Whether the client waits for PUBREC or PUBCOMP of at least so many packets. @param except packet id that does not count */
  hasMany(most: number, except: number): boolean {
    if (this.#packets.size + this.#releasing.size < most) return false
    const open = [...this.#packets].filter(([id, { isRefused }]) => !isRefused && id !== except)
    return open.length + this.#releasing.size >= most
  }

  /** @param packets unreleased packets of the resumed session; their writes are already stored */
  resume(packets: readonly InFlightWrite[]): void {
    for (const [messageId, { write = 'any', id }] of packets) {
      this.#packets.set(messageId, { write, id, committing: committed })
    }
  }

  /**
   * @param deal handles the packet; the promise it returns settles when the write does
   * @param isRefused whether the packet is refused for good with an error of that promise. It stays in flight, like a stored one:
   * some clients send PUBREL for it
   * @returns that promise
   */
  arrive(
    messageId: number,
    deal: (arrival: Arrival) => Promise<unknown>,
    isRefused: (error: unknown) => boolean,
  ): Promise<unknown> {
    const packet: InFlightPacket = { write: undefined, committing: committed }
    const before = this.#packets.get(messageId)
    const dealing = deal({ packet, before, released: this.#releasing.get(messageId) })
    packet.committing = dealing.then(
      () => true,
      (error: unknown) => {
        if (!isRefused(error)) throw error
        packet.isRefused = true
        return false
      },
    )
    this.#packets.set(messageId, packet)
    packet.committing.then(
      isStored => {
        if (isStored) packet.committing = committed
      },
      // A failure ends the connection, so the packet is not needed any more.
      () => {},
    )
    return dealing
  }

  /**
   * Releases a packet. After this call the client may use the id for another write (MQTT-4.3.3-2), even before PUBCOMP.
   *
   * @param forget removes the packet's document; called when the packet's write is committed
   * @returns a promise that resolves when the document is removed, also for a repeated PUBREL, with whether the packet was stored;
   * undefined if no packet has this id
   */
  release(messageId: number, forget: () => Promise<unknown>): Promise<boolean> | undefined {
    const packet = this.#packets.get(messageId)
    if (!packet) return this.#releasing.get(messageId)
    const release = packet.committing.then(async isStored => {
      await forget()
      return isStored
    })
    this.#packets.delete(messageId)
    this.#releasing.set(messageId, release)
    release
      // If this fails, the connection ends, and the client sends PUBREL again.
      .catch(() => {})
      .finally(() => this.#releasing.get(messageId) === release && this.#releasing.delete(messageId))
    return release
  }
}

/** Sets the digest of the packet. @returns whether the packet resends the earlier packet with the same id (contract §4.4 (d)) */
export function isResend(target: string, { dup, payload }: Publish, { packet, before }: Arrival): boolean {
  packet.write = digestOfWrite(target, payload)
  return dup && (before?.write === 'any' || before?.write === packet.write)
}

/** The document by which a later connection recognises a resend; undefined if the session is not persistent. */
export function inFlightDocuments(
  { clientId, isPersistent }: MqttSession,
  messageId: number,
  { packet }: Arrival,
  id?: string,
): DocumentPut | undefined {
  if (!isPersistent || typeof packet.write !== 'number') return undefined
  const document: InFlightDocument = { write: packet.write, ...(id !== undefined && { id }) }
  return { [inFlightName(clientId, messageId)]: document }
}

function digestOfWrite(target: string, body: Uint8Array): number {
  return createHash('sha256').update(`${target}/`).update(body).digest().readUIntBE(0, digestBytes)
}
