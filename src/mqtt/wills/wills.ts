import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Access } from '../../access/access.ts'
import { retryUntil } from '../../core/async/retry-until.ts'
import type { Ingest } from '../../core/ingest.ts'
import { listDocuments } from '../../core/list-documents.ts'
import { type Lock, LockLost, type Locks } from '../../core/locks.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import { mayWrite } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { Relay } from '../relay/relay.ts'
import { clientLock } from '../sessions/client-lock.ts'
import { OrphanedWills } from './orphaned-wills.ts'
import { isAbandoned, type KeptWillContent, type Will, willsOf } from './will-documents.ts'

/** Between attempts while the store is away, milliseconds. */
const retryInterval = 1_000
const changedAtOnce = 100

interface WillsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly locks: Locks
  readonly ingest: Ingest
  readonly access: Access
  /** Of topics beside those of things; undefined: there are none, or they are the host's. */
  readonly relay: Relay | undefined
  /** Whether the CONNECT of a connection of this node was refused: it has no will. @param lockOwner of its client's lock */
  readonly isRefused: (lockOwner: string) => boolean
  /** How long the wills of a node that is gone wait for their clients, milliseconds. */
  readonly grace: number
  /** Called with wills that could not be read or written for other reasons than their content. */
  readonly onDefect: (error: unknown) => void
}

/**
 * The wills of clients that are connected, and of those whose node is gone: each is a document, and outlives its node. A will is
 * written in the name of whoever acts for its client then: by the connection that had it, by the one that takes the client
 * over, or by the node that looks after what is left.
 */
export class Wills {
  readonly #parts: WillsParts
  readonly #stop = new AbortController()
  readonly #left: OrphanedWills

  constructor(parts: WillsParts) {
    const { documents, nodes, grace, onDefect } = parts
    this.#parts = parts
    // Each will that waits for the store listens.
    setMaxListeners(0, this.#stop.signal)
    this.#left = new OrphanedWills({
      documents,
      nodes,
      grace,
      onDefect,
      write: (name, will, stop) => this.#writeLeft(name, will, stop),
    })
  }

  /** Resolves when the will is durable; gives the name under which it is kept. @throws LockLost */
  async keep(will: KeptWillContent, lock: Lock | undefined): Promise<string> {
    const name = `${willsOf(will.owner)}${randomUUID()}`
    const kept: Will = { ...will, node: this.#parts.nodes.self, holder: lock?.owner ?? '' }
    await this.#parts.documents.put({ [name]: kept }, 'essential', lock)
    return name
  }

  /** The client took leave as it should, or its will has been written. @throws LockLost */
  async discard(name: string, lock: Lock | undefined): Promise<void> {
    await this.#parts.documents.put({ [name]: null }, 'essential', lock)
  }

  /**
   * The client is here now: what it left to a node that is not there any more, or to a process before this one, does not apply any
   * more, nor does that of a CONNECT that was refused. A will of a connection that has it no more, of a node that is there, is
   * written (MQTT-3.1.2-8).
   *
   * @param lock of the client. @throws LockLost @throws ThingwireError of the store
   */
  async takeOver(owner: string, lock: Lock, before: string | undefined): Promise<void> {
    if (before === undefined && this.#left.isDone) return
    const { documents, nodes, isRefused } = this.#parts
    const found: [name: string, will: Will][] = []
    const prefix = willsOf(owner)
    for await (const [rest, will] of listDocuments<Will>(documents, prefix)) found.push([prefix + rest, will])
    if (found.length === 0) return
    const alive = await nodes.alive()
    for (const [name, will] of found) {
      if (isAbandoned(will, alive) || isRefused(will.holder)) await this.discard(name, lock)
      // A connection that was refused is forgotten when its will is gone.
      else if (await documents.get(name)) await this.#writeOrDrop(name, will, lock)
    }
  }

  /** Short of room, a store does not keep the client out until it can write the will, which may say no more than that it is away. */
  async #writeOrDrop(name: string, will: Will, lock: Lock): Promise<void> {
    try {
      await this.#append(name, will, lock)
    } catch (error) {
      if (!(error instanceof ThingwireError) || error.reason !== 'store_full') throw error
      await this.discard(name, lock)
      const { thingId, body } = will
      if (thingId === undefined) return
      await this.#parts.ingest.noteRefused({
        thingId,
        door: 'mqtt',
        error,
        body: Buffer.from(body, 'base64'),
      })
    }
  }

  /** This node stops in order: from now on these wait for their clients. @throws ThingwireError of the store */
  async leave(names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += changedAtOnce) {
      const some = names.slice(from, from + changedAtOnce)
      await this.#parts.documents.transact(some, wills => ({
        put: Object.fromEntries(
          some.flatMap((name, place) => leftIn(name, wills[place] as Will | undefined)),
        ),
        result: undefined,
        purpose: 'essential',
      }))
    }
  }

  /** Writes the will of a client that is lost. While the store is away it is tried again. Never rejects. */
  async write(name: string, will: KeptWillContent, lock: Lock | undefined): Promise<void> {
    let isRetry = false
    await this.#persist(async () => {
      // What the store was late with may be written all the same.
      if (isRetry && !(await this.#parts.documents.getInOrder(name))) return
      isRetry = true
      await this.#append(name, will, lock).catch(async error => {
        if (!(error instanceof LockLost) || !lock) throw error
        // Perhaps to nobody: this node was held for dead for a while.
        await this.#appendUnheld(name, will, lock.owner)
      })
    }, this.#stop.signal)
  }

  /** Unless its client is back, on whichever node: then it is looked after there. Never rejects. */
  async #writeLeft(name: string, will: Will, stop: AbortSignal): Promise<void> {
    await this.#persist(() => this.#appendUnheld(name, will, will.holder), stop)
  }

  /** Unless its client is held by another connection than its own, which looks after it then. */
  async #appendUnheld(name: string, will: KeptWillContent, lockOwner: string): Promise<void> {
    const { documents, locks } = this.#parts
    const lock = await locks.takeFrom(clientLock(will.owner), lockOwner)
    if (!lock) return
    if (await documents.get(name)) await this.#append(name, will, lock)
    await locks.release(lock)
  }

  /** @throws LockLost @throws ThingwireError of the store */
  async #append(name: string, will: KeptWillContent, lock: Lock | undefined): Promise<void> {
    try {
      await this.#carryOut(will, { [name]: null }, lock)
    } catch (error) {
      if (!(error instanceof ThingwireError) || error.retryable) throw error
    }
    // Of a write that had no effect, such as a dry run, the store has not taken the document along.
    await this.discard(name, lock)
  }

  /** @param documents put with it, if it has any effect */
  async #carryOut(
    { thingId, message, credentialHash, body }: KeptWillContent,
    documents: DocumentPut,
    lock: Lock | undefined,
  ): Promise<void> {
    const { access, ingest, relay } = this.#parts
    const bytes = Buffer.from(body, 'base64')
    if (message) {
      const grants = await access.topicsAgain(credentialHash)
      if (mayWrite(grants, message.topic))
        await relay?.publish({ ...message, payload: bytes }, { documents, lock })
      return
    }
    await access.authoriseAgain(credentialHash, thingId, 'write')
    await ingest.write({ thingId, door: 'mqtt', body: bytes, options: {}, isWill: true, documents, lock })
  }

  /** Does it again for as long as the store is away. */
  async #persist(task: () => Promise<void>, stop: AbortSignal): Promise<void> {
    const isPassing = (error: unknown) => error instanceof ThingwireError && !(error instanceof LockLost)
    try {
      await retryUntil(task, { every: retryInterval, stop, isPassing })
    } catch (error) {
      // Of a lock that is lost, another connection of the client has written it, or will.
      if (!(error instanceof LockLost)) this.#parts.onDefect(error)
    }
  }

  /** What is not written stays in the store, for another node or the next start. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#left.close()
  }
}

function leftIn(name: string, will: Will | undefined): (readonly [string, Will])[] {
  return will ? [[name, { ...will, isLeft: true }]] : []
}
