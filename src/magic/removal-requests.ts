import { randomBytes } from 'node:crypto'
import { listDocuments } from '../core/list-documents.ts'
import type { DocumentStore } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'

const prefix = 'magic/removals/'
const nameForm = /^([^/]+)\/[^/]+\/(.+)$/

/** Asks the node that applies magic records to remove a state. */
export interface RemovalRequest {
  /** Name of the document: `magic/removals/<thing id>/<random>/<key>`. */
  readonly name: string
  readonly thingId: string
  readonly key: string
}

/** The request in a document with this name; undefined if the document is not a request. */
export function removalRequest(name: string): RemovalRequest | undefined {
  const [, thingId, key] = name.startsWith(prefix) ? (nameForm.exec(name.slice(prefix.length)) ?? []) : []
  return thingId === undefined || key === undefined ? undefined : { name, thingId, key }
}

/** Every request in the store. @throws ThingwireError if the store fails */
export async function listRemovalRequests(
  documents: Pick<DocumentStore, 'list'>,
): Promise<readonly RemovalRequest[]> {
  const requests: RemovalRequest[] = []
  for await (const [rest] of listDocuments(documents, prefix)) {
    const request = removalRequest(prefix + rest)
    if (request) requests.push(request)
  }
  return requests
}

interface Asked {
  /** Settles when the document is stored. */
  readonly putting: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The removals that this node has requested. Each request is a document until the removal is done. */
export class RemovalRequests {
  readonly #documents: Pick<DocumentStore, 'get' | 'put'>
  /** Requested removals by name of the document. */
  readonly #asked = new Map<string, Asked>()

  constructor(documents: Pick<DocumentStore, 'get' | 'put'>) {
    this.#documents = documents
  }

  /**
   * Requests a removal. Resolves when the removal is durable.
   *
   * @param onPut called when the document is stored
   * @throws ThingwireError if the store fails; store_unavailable if the service ends before that
   */
  async ask(thingId: string, key: string, onPut: (request: RemovalRequest) => void): Promise<void> {
    const name = `${prefix}${thingId}/${randomBytes(9).toString('base64url')}/${key}`
    const putting = this.#documents.put({ [name]: {} }, 'essential')
    const done = new Promise<void>((resolve, reject) => this.#asked.set(name, { putting, resolve, reject }))
    try {
      const put = putting.then(() => onPut({ name, thingId, key }))
      await Promise.all([put, done])
    } finally {
      this.#asked.delete(name)
    }
  }

  /** Resolves the requests in these documents. Call this when the documents are removed. Unknown names are ignored. */
  settle(names: readonly string[]): void {
    for (const name of names) this.#asked.get(name)?.resolve()
  }

  /** Resolves the requests whose documents no longer exist. Call this when changes of documents may have been missed. */
  lookUp(): void {
    for (const [name, { putting, resolve, reject }] of this.#asked) {
      const look = async () => {
        await putting
        if (!(await this.#documents.get(name))) resolve()
      }
      look().catch(reject)
    }
  }

  close(): void {
    const error = new ThingwireError('store_unavailable', 'the retained-state handler is closed')
    for (const { reject } of this.#asked.values()) reject(error)
  }
}
