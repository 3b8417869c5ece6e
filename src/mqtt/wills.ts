import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Access } from '../access/access.ts'
import type { Ingest } from '../core/ingest.ts'
import { listDocuments } from '../core/list-documents.ts'
import type { DocumentStore } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'

const willPrefix = 'mqtt-wills/'
/** Between attempts while the store is away, milliseconds. */
const retryInterval = 1_000

/** What is to be written when a client is lost; kept as a document from CONNECT on, so that it outlives the process. */
export type Will = {
  /** Whose will it is: `ownerOf` of a connection. */
  readonly owner: string
  readonly thingId: string
  /** SHA-256 of the credential that allowed it: a revoked one's will is dropped. */
  readonly credentialHash: string
  /** The write body (contract §2), base64. */
  readonly body: string
}

export interface WillsParts {
  readonly documents: DocumentStore
  readonly ingest: Ingest
  readonly access: Access
  /** How long the wills of a process that has ended wait for their clients, milliseconds. */
  readonly grace: number
  /** Told of wills that could not be read or written for other reasons than their content. */
  readonly onDefect: (error: unknown) => void
}

/** The wills of clients that are connected, and of those that were when the process before this one ended. */
export class Wills {
  readonly #parts: WillsParts
  readonly #stop = new AbortController()
  /** Wills of the process before, by name, that wait for `grace` to be over. */
  readonly #inherited = new Map<string, Will>()
  readonly #loading: Promise<void>

  constructor(parts: WillsParts) {
    this.#parts = parts
    this.#loading = this.#inherit().catch(parts.onDefect)
  }

  /** Resolves when the will is durable; gives the name under which it is kept. */
  async keep(will: Will): Promise<string> {
    // One that is there before the old ones are listed would be taken for one of them.
    await this.#loading
    const name = `${willPrefix}${randomUUID()}`
    await this.#parts.documents.put({ [name]: will })
    return name
  }

  /** The client took leave as it should, or its will has been written. */
  async discard(name: string): Promise<void> {
    await this.#parts.documents.put({ [name]: null })
  }

  /** A client is there, so that what it left to a process before this one does not apply any more. */
  async onClientBack(owner: string): Promise<void> {
    await this.#loading
    for (const [name, will] of this.#inherited) {
      if (will.owner !== owner) continue
      this.#inherited.delete(name)
      await this.discard(name)
    }
  }

  /** Writes the will of a client that is lost. While the store is away it is tried again. Never rejects. */
  async write(name: string, will: Will): Promise<void> {
    const { access, ingest, onDefect } = this.#parts
    const { thingId, credentialHash, body } = will
    for (let isRetry = false; !this.#stop.signal.aborted; isRetry = true) {
      try {
        // What the store was late with may be written all the same, and the document went with it.
        if (isRetry && !(await this.#isKept(name))) return
        await access.authoriseAgain(credentialHash, thingId, 'write')
        const documents = { [name]: null }
        await ingest.write({
          thingId,
          door: 'mqtt',
          body: Buffer.from(body, 'base64'),
          options: {},
          documents,
        })
        // Of a write that had no effect, such as a dry run, the store has not taken the document along.
        return await this.discard(name)
      } catch (error) {
        if (!(error instanceof ThingwireError)) return onDefect(error)
        if (!error.retryable) return await this.discard(name).catch(() => {})
        await delay(retryInterval, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
      }
    }
  }

  /** Asked in the order of commits: behind whatever is still under way. */
  #isKept(name: string): Promise<boolean> {
    return this.#parts.documents.transact([name], ([will]) => ({ put: {}, result: will !== undefined }))
  }

  /** What is not written stays in the store, for the next start. */
  close(): void {
    this.#stop.abort()
  }

  async #inherit(): Promise<void> {
    const { documents, grace, onDefect } = this.#parts
    for await (const [name, will] of listDocuments<Will>(documents, willPrefix)) {
      this.#inherited.set(`${willPrefix}${name}`, will)
    }
    void this.#writeInherited(grace).catch(onDefect)
  }

  async #writeInherited(grace: number): Promise<void> {
    await delay(grace, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
    for (const [name, will] of this.#inherited) {
      if (this.#stop.signal.aborted) return
      this.#inherited.delete(name)
      await this.write(name, will)
    }
  }
}
