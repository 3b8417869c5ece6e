import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Access } from '../access/access.ts'
import type { Ingest } from '../core/ingest.ts'
import { listDocuments } from '../core/list-documents.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'
import { LeftWills, willsTask } from './left-wills.ts'
import { isAbandoned, type Will, willsOf } from './will-documents.ts'

/** Between attempts while the store is away, milliseconds. */
const retryInterval = 1_000
const changedAtOnce = 100

export interface WillsParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly ingest: Ingest
  readonly access: Access
  /** How long the wills of a node that is gone wait for their clients, milliseconds. */
  readonly grace: number
  /** Nodes have gone: these are left. @throws ThingwireError of the store */
  readonly onGone: () => Promise<void>
  /** Told of wills that could not be read or written for other reasons than their content. */
  readonly onDefect: (error: unknown) => void
}

/** The wills of clients that are connected, and of those whose node is gone: each is a document, and outlives its node. */
export class Wills {
  readonly #parts: WillsParts
  readonly #stop = new AbortController()
  readonly #left: LeftWills

  constructor(parts: WillsParts) {
    const { documents, nodes, grace, onGone, onDefect } = parts
    this.#parts = parts
    // Each will that waits for the store listens.
    setMaxListeners(0, this.#stop.signal)
    this.#left = new LeftWills({
      documents,
      nodes,
      grace,
      onGone,
      onDefect,
      write: (name, will, stop) => this.#write(name, will, stop, willsTask),
    })
  }

  /** Resolves when the will is durable; gives the name under which it is kept. */
  async keep(will: Omit<Will, 'node'>): Promise<string> {
    const name = `${willsOf(will.owner)}${randomUUID()}`
    const kept: Will = { ...will, node: this.#parts.nodes.self }
    await this.#parts.documents.put({ [name]: kept })
    return name
  }

  /** The client took leave as it should, or its will has been written. */
  async discard(name: string): Promise<void> {
    await this.#parts.documents.put({ [name]: null })
  }

  /** A client is there, so that what it left to another node, or to a process before this one, does not apply any more. */
  async onClientBack(owner: string): Promise<void> {
    if (this.#left.isDone) return
    const { documents, nodes } = this.#parts
    const names: string[] = []
    for await (const [rest, { node, isLeft }] of listDocuments<Will>(documents, willsOf(owner))) {
      if (node !== nodes.self || isLeft) names.push(`${willsOf(owner)}${rest}`)
    }
    if (names.length === 0) return
    const alive = await nodes.alive()
    // A node that is there, or was a moment ago, may be about to write it, or to leave it.
    await this.#change(names, will => (isAbandoned(will, alive) ? null : { ...will, isBack: true }))
  }

  /** This node stops in order: from now on these wait for their clients. @throws ThingwireError of the store */
  async leave(names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += changedAtOnce) {
      await this.#change(names.slice(from, from + changedAtOnce), will => ({ ...will, isLeft: true }))
    }
  }

  /** Changes those that are still there. */
  async #change(names: readonly string[], change: (will: Will) => Will | null): Promise<void> {
    await this.#parts.documents.transact(names, wills => {
      const changed = names.flatMap((name, place) => {
        const will = wills[place] as Will | undefined
        return will ? [[name, change(will)] as const] : []
      })
      return { put: Object.fromEntries(changed), result: undefined }
    })
  }

  /** Writes the will of a client that is lost. While the store is away it is tried again. Never rejects. */
  async write(name: string, will: Will): Promise<void> {
    await this.#write(name, will, this.#stop.signal)
  }

  /** @param lead the task for which it is written: not if this node does not lead it any more, nor for one that is back */
  async #write(name: string, will: Will, stop: AbortSignal, lead?: string): Promise<void> {
    const { access, ingest, nodes, onDefect } = this.#parts
    const { thingId, credentialHash, body } = will
    for (let isRetry = false; !stop.aborted; isRetry = true) {
      try {
        // What the store was late with may be written all the same, and another node may have held this one for dead.
        const mayBeGone = isRetry || lead !== undefined || !nodes.isAlone
        const kept = mayBeGone ? await this.#read(name) : will
        if (!kept) return
        if (lead !== undefined && kept.isBack) return await this.discard(name)
        await access.authoriseAgain(credentialHash, thingId, 'write')
        await ingest.write({
          thingId,
          door: 'mqtt',
          body: Buffer.from(body, 'base64'),
          options: {},
          isWill: true,
          documents: { [name]: null },
          ...(lead !== undefined && { lead }),
        })
        // Of a write that had no effect, such as a dry run, the store has not taken the document along.
        return await this.discard(name)
      } catch (error) {
        if (!(error instanceof ThingwireError)) return onDefect(error)
        if (!error.retryable) return await this.discard(name).catch(() => {})
        await delay(retryInterval, undefined, { signal: stop, ref: false }).catch(() => {})
      }
    }
  }

  /** Asked in the order of commits: behind whatever is still under way. */
  #read(name: string): Promise<Will | undefined> {
    return this.#parts.documents.transact([name], ([will]) => ({
      put: {},
      result: will as Will | undefined,
    }))
  }

  /** What is not written stays in the store, for another node or the next start. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#left.close()
  }
}
