import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { retryUntil } from '../../core/async/retry-until.ts'
import { promiseOf } from '../../core/async/ticket.ts'
import { listDocuments } from '../../core/list-documents.ts'
import { type Lock, LockLost } from '../../core/locks.ts'
import type { DocumentPut } from '../../core/ports.ts'
import { mayWrite } from '../../core/topics/topic-grant.ts'
import { ThingwireError } from '../../errors.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { decoded } from '../relay/documents.ts'
import type { Relay } from '../relay/relay.ts'
import { clientLock } from '../sessions/session.ts'
import { OrphanedWills } from './orphaned-wills.ts'
import { isAbandoned, type KeptWillContent, type Will, willsOf } from './will-documents.ts'

/** Time between attempts while the store is unavailable, milliseconds. */
const retryInterval = 1_000
const changedAtOnce = 100

interface WillsParts
  extends Pick<
    MqttThings,
    'documents' | 'nodes' | 'locks' | 'ingest' | 'access' | 'clock' | 'sourceMessages'
  > {
  /** Serves topics that are not Thingwire's; undefined if the host serves them, or nobody does. */
  readonly relay: Relay | undefined
  /** Whether this node refused a connection, so that the connection's will is void. @param lockOwner owner of the client's lock */
  readonly isRefused: (lockOwner: string) => boolean
  /** How long the wills of a dead node wait for their clients, milliseconds. */
  readonly grace: number
  /** Called on the leading node when other nodes have died. @throws ThingwireError if the store fails */
  readonly onDeaths: (alive: ReadonlySet<string>) => Promise<void>
  /** Called with errors that do not come from the store. */
  readonly onDefect: (error: unknown) => void
}

/**
 * The wills of connected clients, and of clients whose node is gone. Each will is a document, so it outlives its node. The will is
 * written under the lock of its client: by the client's connection, by the connection that takes over the client, or by the node
 * that takes care of orphaned wills.
 */
export class Wills {
  readonly #parts: WillsParts
  /** Timers of this node's wills that wait for their delay, by owner and name. */
  readonly #delayed = new Map<string, Map<string, NodeJS.Timeout>>()
  readonly #stop = new AbortController()
  readonly #left: OrphanedWills

  constructor(parts: WillsParts) {
    this.#parts = parts
    // Each will that waits for the store adds a listener to the signal, so Node.js must not take many listeners for a leak.
    setMaxListeners(0, this.#stop.signal)
    this.#left = new OrphanedWills({
      ...parts,
      write: (name, will, stop) => this.#persist(() => this.#appendUnheld(name, will, will.holder), stop),
    })
  }

  /** Resolves with the name of the will when it is durable. @throws LockLost */
  async keep(will: KeptWillContent, lock: Lock | undefined): Promise<string> {
    const name = `${willsOf(will.owner)}${randomUUID()}`
    const kept: Will = { ...will, node: this.#parts.nodes.self, holder: lock?.owner ?? '' }
    await this.#parts.documents.put({ [name]: kept }, 'essential', lock)
    return name
  }

  /** Call this when the client has sent DISCONNECT, or when its will has been written. @throws LockLost */
  async discard(name: string, lock: Lock | undefined): Promise<void> {
    await this.#parts.documents.put({ [name]: null }, 'essential', lock)
  }

  /**
   * Call this when the client has connected to this node. Discards its wills from dead nodes, earlier processes and refused
   * CONNECTs. If its previous connection was to a live node, writes the will of that connection (MQTT-3.1.2-8). A will with a delay
   * is written if the client's earlier session ends (`startsClean`), and discarded if the client goes on with it (MQTT5-3.1.3-9).
   *
   * @param lock lock of the client @throws LockLost @throws ThingwireError if the store fails
   */
  async takeOver(owner: string, lock: Lock, before: string | undefined, startsClean: boolean): Promise<void> {
    if (before === undefined && this.#left.isDone && !this.#delayed.has(owner)) return
    const { documents, nodes, isRefused } = this.#parts
    const found: [name: string, will: Will][] = []
    const prefix = willsOf(owner)
    for await (const [rest, will] of listDocuments<Will>(documents, prefix)) found.push([prefix + rest, will])
    if (found.length === 0) return
    const alive = await nodes.alive()
    for (const [name, will] of found) {
      const isBack = will.delay === undefined ? isAbandoned(will, alive) : !startsClean
      if (isBack || isRefused(will.holder)) await this.discard(name, lock)
      // When the will of a refused connection is removed, `isRefused` forgets the connection: check that the will still exists.
      else if (await documents.get(name)) await this.#writeOrDrop(name, will, lock)
    }
  }

  /** If the store is full, drops the will and lists it as refused, since an error would keep the client from connecting. */
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

  /** Call this when this node stops: from now on these wills wait for their clients. @throws ThingwireError if the store fails */
  async leave(connected: readonly string[]): Promise<void> {
    const names = [...connected, ...[...this.#delayed.values()].flatMap(timers => [...timers.keys()])]
    for (let from = 0; from < names.length; from += changedAtOnce) {
      const some = names.slice(from, from + changedAtOnce)
      await this.#parts.documents.transact(some, wills => ({
        put: Object.fromEntries(
          some.flatMap((name, place) => (wills[place] ? [[name, { ...wills[place], isLeft: true }]] : [])),
        ),
        result: undefined,
        purpose: 'essential',
      }))
    }
  }

  /** Writes the will of a client whose connection was lost, or leaves it in the store until its delay is over. Never rejects. */
  async leaveOrWrite(name: string, will: KeptWillContent, lock: Lock | undefined): Promise<void> {
    const { delay = 0 } = will
    if (delay === 0) return await this.#write(name, will, lock)
    const { documents, nodes, clock } = this.#parts
    const holder = lock?.owner ?? ''
    const dueAt = clock.now() + delay * 1_000
    const left: Will = { ...will, node: nodes.self, holder, dueAt }
    const timer = setTimeout(() => void this.#writeDelayed(name, will, holder), delay * 1_000).unref()
    const timers = this.#delayed.get(will.owner) ?? new Map<string, NodeJS.Timeout>()
    this.#delayed.set(will.owner, timers.set(name, timer))
    await this.#persist(
      async () => void (await documents.put({ [name]: left }, 'essential', lock)),
      this.#stop.signal,
    )
  }

  async #writeDelayed(name: string, will: KeptWillContent, holder: string): Promise<void> {
    await this.#persist(() => this.#appendUnheld(name, will, holder), this.#stop.signal)
    const timers = this.#delayed.get(will.owner)
    timers?.delete(name)
    if (timers?.size === 0) this.#delayed.delete(will.owner)
  }

  /** Retries while the store is unavailable. Never rejects. */
  async #write(name: string, will: KeptWillContent, lock: Lock | undefined): Promise<void> {
    let isRetry = false
    await this.#persist(async () => {
      // A write that exceeded the time limit of the store may still have succeeded.
      if (isRetry && !(await this.#parts.documents.getInOrder(name))) return
      isRetry = true
      await this.#append(name, will, lock).catch(async error => {
        if (!(error instanceof LockLost) || !lock) throw error
        // The lock may be free again if this node seemed to be dead for a while.
        await this.#appendUnheld(name, will, lock.owner)
      })
    }, this.#stop.signal)
  }

  /** Writes the will, unless another connection has the client's lock: that connection takes care of the will. */
  async #appendUnheld(name: string, will: KeptWillContent, lockOwner: string): Promise<void> {
    const { documents, locks } = this.#parts
    const lock = await locks.takeFrom(clientLock(will.owner), lockOwner)
    if (!lock) return
    if (await documents.get(name)) await this.#append(name, will, lock)
    await locks.release(lock)
  }

  /** @throws LockLost @throws ThingwireError if the store fails */
  async #append(name: string, will: KeptWillContent, lock: Lock | undefined): Promise<void> {
    try {
      await this.#carryOut(will, { [name]: null }, lock)
    } catch (error) {
      if (!(error instanceof ThingwireError) || error.retryable) throw error
    }
    // A write without effect, for example a dry run, has not removed the document.
    await this.discard(name, lock)
  }

  /** @param documents documents to put in the same commit as the write or message, if there is such a commit */
  async #carryOut(will: KeptWillContent, documents: DocumentPut, lock: Lock | undefined): Promise<void> {
    const { access, ingest, relay, clock } = this.#parts
    const { message, credentialHash } = will
    const bytes = Buffer.from(will.body, 'base64')
    if (message) {
      const { properties, expiry, ...rest } = message
      const expiresAt = expiry === undefined ? undefined : clock.now() + expiry * 1_000
      const carried = { properties: decoded(properties), expiresAt }
      const principal = await access.identifyAgain(credentialHash)
      if (!mayWrite(await access.topicsOf(principal), message.topic)) return
      const { topic } = message
      if (principal.kind === 'source') {
        const sent = { door: 'mqtt', topic, payload: bytes, lock } as const
        await promiseOf(ticket => this.#parts.sourceMessages.take(principal, sent, ticket))
      }
      await relay?.publish({ ...rest, ...carried, payload: bytes }, { documents, lock })
      return
    }
    const { thingId, format, options = {}, refusal } = will
    await access.authoriseAgain(credentialHash, thingId, 'write')
    const write = { thingId, door: 'mqtt', body: bytes } as const
    if (refusal) await ingest.noteRefused({ ...write, error: new ThingwireError(refusal) })
    else await ingest.write({ ...write, format, options, isWill: true, documents, lock })
  }

  /** Retries the task while the store is unavailable. */
  async #persist(task: () => Promise<void>, stop: AbortSignal): Promise<void> {
    const isPassing = (error: unknown) => error instanceof ThingwireError && !(error instanceof LockLost)
    try {
      await retryUntil(task, { every: retryInterval, stop, isPassing })
    } catch (error) {
      // If the lock is lost, the client's other connection writes the will, or has done so.
      if (!(error instanceof LockLost)) this.#parts.onDefect(error)
    }
  }

  /** Wills that are not written stay in the store, for another node or the next start. */
  async close(): Promise<void> {
    for (const timers of this.#delayed.values()) for (const timer of timers.values()) clearTimeout(timer)
    this.#stop.abort()
    await this.#left.close()
  }
}
