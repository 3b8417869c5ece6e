import { listDocuments, listNames } from '../../core/list-documents.ts'
import type { Lock } from '../../core/locks.ts'
import type { DocumentPut, DocumentStore, PutPurpose } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { ThingwireError } from '../../errors.ts'
import { sessionName, sessionPrefix, topicQueueOf, topicSessionName } from '../relay/documents.ts'
import { maximumMissed } from './missed.ts'
import type { MqttSession } from './session.ts'
import {
  type InFlightDocument,
  type InFlightWrite,
  inFlightOf,
  isOver,
  longestExpiry,
  type MqttSessionDocument,
} from './session-documents.ts'

/** Maximum number of persistent sessions of one principal (contract §9). */
const mostOfPrincipal = 1_000

export interface Usage {
  readonly session: MqttSession
  readonly isInUse: boolean
  readonly lock: Lock
}

/** The persistent sessions in the store, including those of other nodes. */
export class StoredSessions {
  readonly #documents: DocumentStore
  readonly #node: string
  readonly #clock: Pick<ReceiptClock, 'now'>
  /** By session of this node: the state that was last stored, as JSON. */
  readonly #kept = new WeakMap<MqttSession, string>()

  constructor(documents: DocumentStore, node: string, clock: Pick<ReceiptClock, 'now'>) {
    this.#documents = documents
    this.#node = node
    this.#clock = clock
  }

  /** @throws ThingwireError if the store fails */
  async read(clientId: string): Promise<MqttSessionDocument | undefined> {
    return (await this.#documents.get(sessionName(clientId))) as MqttSessionDocument | undefined
  }

  /** @throws ThingwireError too_many_persistent_sessions */
  async assertRoom(clientId: string): Promise<void> {
    const scope = clientId.slice(0, clientId.indexOf(':') + 1)
    const names = await this.#documents.names(sessionName(scope), { limit: mostOfPrincipal })
    if (names.length >= mostOfPrincipal) throw new ThingwireError('too_many_persistent_sessions')
  }

  /**
   * Stores a session, with the current time as the time of its last connection.
   *
   * @param purpose `keep` if the session is new or filters were added to it
   * @param others documents to put in the same commit
   * @returns the time of the last connection
   * @throws LockLost @throws ThingwireError if the store fails
   */
  async keep(usage: Usage, purpose: PutPurpose, others?: DocumentPut): Promise<number> {
    return await this.#put(usage, this.#stateOf(usage), purpose, others)
  }

  /** Stores a session if it has changed. @throws LockLost @throws ThingwireError if the store fails */
  async keepChanged(usage: Usage): Promise<void> {
    const state = this.#stateOf(usage)
    if (this.#kept.get(usage.session) !== JSON.stringify(state)) await this.#put(usage, state, 'keep')
  }

  async #put(
    { session, lock }: Usage,
    state: Omit<MqttSessionDocument, 'lastConnected'>,
    purpose: PutPurpose,
    others: DocumentPut = {},
  ): Promise<number> {
    const document: MqttSessionDocument = { ...state, lastConnected: this.#clock.now() }
    try {
      await this.#documents.put({ ...others, [sessionName(session.clientId)]: document }, purpose, lock)
      this.#kept.set(session, JSON.stringify(state))
      return document.lastConnected
    } catch (error) {
      // The put may have succeeded nevertheless.
      this.#kept.delete(session)
      throw error
    }
  }

  #stateOf({ session, isInUse }: Usage): Omit<MqttSessionDocument, 'lastConnected'> {
    const { interests, unacked, maybeSent, expiry } = session
    const newest = unacked.newest(maximumMissed.messages)
    return {
      node: this.#node,
      subscriptions: [...interests],
      ...newest,
      ...(expiry !== longestExpiry && { expiry }),
      ...(maybeSent > newest.acked.writeNumber && { maybeSent }),
      isInUse,
    }
  }

  /** All sessions by client id. @throws ThingwireError if the store fails */
  async *list(): AsyncGenerator<readonly [clientId: string, MqttSessionDocument]> {
    const documents = listDocuments<MqttSessionDocument>(this.#documents, sessionPrefix)
    for await (const [rest, session] of documents) yield [decodeURIComponent(rest), session]
  }

  /** QoS 2 packets that are stored but not released yet. @throws ThingwireError if the store fails */
  async inFlight(clientId: string): Promise<readonly InFlightWrite[]> {
    const packets: InFlightWrite[] = []
    const documents = listDocuments<InFlightDocument>(this.#documents, inFlightOf(clientId))
    for await (const [messageId, document] of documents) packets.push([Number(messageId), document])
    return packets
  }

  /** Removes all documents of the client's session. @throws LockLost @throws ThingwireError if the store fails */
  async forget(clientId: string, lock: Lock): Promise<void> {
    await this.#documents.put(await this.removalOf(clientId), 'essential', lock)
  }

  /** A put that removes all documents of the client's session. @throws ThingwireError if the store fails */
  async removalOf(clientId: string): Promise<DocumentPut> {
    const removal: Record<string, null> = {
      [sessionName(clientId)]: null,
      [topicSessionName(clientId)]: null,
    }
    for (const prefix of [inFlightOf(clientId), topicQueueOf(clientId)]) {
      for await (const name of listNames(this.#documents, prefix)) removal[name] = null
    }
    return removal
  }

  /** The client ids of all sessions in a scope, for example `thing.<id>:`. @throws ThingwireError if the store fails */
  async *clientIdsIn(scope: string): AsyncGenerator<string> {
    for await (const name of listNames(this.#documents, sessionName(scope))) {
      yield decodeURIComponent(name.slice(sessionPrefix.length))
    }
  }

  /**
   * Removes the sessions that have ended, unless their clients have returned.
   *
   * @param now milliseconds since 1970
   * @param mayForget returns false if this node uses the session, which must then be kept
   * @returns the client ids of removed sessions
   * @throws ThingwireError if the store fails
   */
  async *forgetEnded(now: number, mayForget: (clientId: string) => boolean): AsyncGenerator<string> {
    for await (const [clientId, session] of this.list()) {
      if (!isOver(session, now) || !mayForget(clientId)) continue
      if (await this.forgetIf(clientId, stored => isOver(stored, now))) yield clientId
    }
  }

  /** Removes a session if it has ended. @returns whether it was removed @throws ThingwireError if the store fails */
  async forgetIf(clientId: string, hasEnded: (stored: MqttSessionDocument) => boolean): Promise<boolean> {
    const removal = await this.removalOf(clientId)
    return await this.#documents.transact([sessionName(clientId)], ([stored]) => {
      const isEnded = stored !== undefined && hasEnded(stored as MqttSessionDocument)
      return { put: isEnded ? removal : {}, result: isEnded, purpose: 'essential' }
    })
  }
}
