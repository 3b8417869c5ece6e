import { randomUUID } from 'node:crypto'
import { listDocuments } from '../core/list-documents.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore } from '../core/ports.ts'

const connectionPrefix = 'mqtt-connections/'
/** Milliseconds. */
const tidyInterval = 1_000
const removedAtOnce = 100

/** `mqtt-connections/<client id>`: the latest connection of a client that is connected, on whichever node. */
type ConnectionDocument = {
  readonly node: string
  /** Random. */
  readonly connection: string
}

/** That a connection is the latest one of its client. */
export interface Claim {
  readonly clientId: string
  /** False when the client is known to have connected again, or the connection has ended. */
  readonly isLatest: boolean
  /**
   * Asks the store whether it is the latest.
   *
   * @throws ThingwireError of the store
   */
  confirm(): Promise<boolean>
}

interface PutClaim extends Claim {
  readonly connection: string
  readonly onSuperseded: () => void
  isLatest: boolean
  /** Whether the store has it, so that whatever else the store has is of a connection behind it. */
  isPut: boolean
  /** Whether another node has changed the document since it was read. */
  isDoubtful: boolean
}

/**
 * Tells of clients that connect on another node while they are connected here (MQTT-3.1.4-2). Each connection puts a
 * document when it begins; of those, the one that was put last is the latest.
 */
export class LatestConnections {
  readonly #documents: DocumentStore
  readonly #nodes: Nodes
  /** Those of this node by client id, several while one of them is taken over here. */
  readonly #claims = new Map<string, Set<PutClaim>>()
  /** Those that have ended, whose documents may still be there. */
  #ended: Pick<PutClaim, 'clientId' | 'connection'>[] = []
  readonly #stopListening: () => void
  readonly #timer: NodeJS.Timeout | undefined

  constructor(documents: DocumentStore, nodes: Nodes) {
    this.#documents = documents
    this.#nodes = nodes
    this.#stopListening = nodes.onDocuments(names => this.#onDocuments(names))
    if (!nodes.isAlone) this.#timer = setInterval(() => this.#tidy(), tidyInterval).unref()
  }

  /**
   * Says that the client has connected here; other nodes know when this resolves, or soon after.
   *
   * @param onSuperseded called at most once, when it has connected again
   * @returns to be given back with `release`
   * @throws ThingwireError of the store
   */
  async claim(clientId: string, onSuperseded: () => void): Promise<Claim> {
    if (this.#nodes.isAlone) return { clientId, isLatest: true, confirm: async () => true }
    const connection = randomUUID()
    const claim: PutClaim = {
      clientId,
      connection,
      onSuperseded,
      isLatest: true,
      isPut: false,
      isDoubtful: false,
      confirm: async () => {
        await this.#compare(clientId)
        return claim.isLatest
      },
    }
    this.#claims.set(clientId, (this.#claims.get(clientId) ?? new Set()).add(claim))
    const document: ConnectionDocument = { node: this.#nodes.self, connection }
    try {
      await this.#documents.put({ [nameOf(clientId)]: document })
    } catch (error) {
      this.release(claim)
      throw error
    }
    claim.isPut = true
    if (claim.isDoubtful) void this.#check(clientId)
    return claim
  }

  /** The connection has ended. */
  release(claim: Claim): void {
    const { clientId } = claim
    const claims = this.#claims.get(clientId)
    for (const each of claims ?? []) {
      if (each !== claim) continue
      each.isLatest = false
      this.#forget(each)
      this.#ended.push(each)
    }
  }

  /** Removes what nodes that are not there any more have left. @throws ThingwireError of the store */
  async removeLeft(): Promise<void> {
    const found: [string, ConnectionDocument][] = []
    for await (const each of listDocuments<ConnectionDocument>(this.#documents, connectionPrefix))
      found.push(each)
    // Behind the documents: a node that has put one of them is among these unless it has died.
    const alive = new Set(await this.#nodes.alive()).add(this.#nodes.self)
    for (const [rest, { node, connection }] of found) {
      if (!alive.has(node)) this.#ended.push({ clientId: decodeURIComponent(rest), connection })
    }
    await this.#removeEnded()
  }

  /** To be called when every connection has ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopListening()
    // What is left then, another node removes.
    await this.#removeEnded().catch(() => {})
  }

  #onDocuments(names: readonly string[] | undefined): void {
    const clientIds = names?.filter(isConnectionName).map(clientIdOf) ?? [...this.#claims.keys()]
    for (const clientId of clientIds) {
      const claims = this.#claims.get(clientId)
      if (!claims) continue
      for (const claim of claims) claim.isDoubtful = true
      void this.#check(clientId)
    }
  }

  /** Never rejects: what cannot be read now, is later. */
  async #check(clientId: string): Promise<void> {
    await this.#compare(clientId).catch(() => {})
  }

  /** @throws ThingwireError of the store */
  async #compare(clientId: string): Promise<void> {
    const doubtful = [...(this.#claims.get(clientId) ?? [])].filter(({ isPut }) => isPut)
    for (const claim of doubtful) claim.isDoubtful = false
    try {
      const latest = (await this.#documents.get(nameOf(clientId))) as ConnectionDocument | undefined
      for (const claim of doubtful) if (claim.connection !== latest?.connection) this.#supersede(claim)
    } catch (error) {
      for (const claim of doubtful) claim.isDoubtful = true
      throw error
    }
  }

  #supersede(claim: PutClaim): void {
    if (!claim.isLatest) return
    claim.isLatest = false
    if (this.#forget(claim)) claim.onSuperseded()
  }

  /** @returns whether it was known */
  #forget(claim: PutClaim): boolean {
    const claims = this.#claims.get(claim.clientId)
    const wasKnown = claims?.delete(claim) ?? false
    if (claims?.size === 0) this.#claims.delete(claim.clientId)
    return wasKnown
  }

  #tidy(): void {
    for (const [clientId, claims] of this.#claims) {
      for (const { isPut, isDoubtful } of claims) if (isPut && isDoubtful) void this.#check(clientId)
    }
    this.#removeEnded().catch(() => {})
  }

  async #removeEnded(): Promise<void> {
    while (this.#ended.length > 0) {
      const ended = this.#ended.splice(0, removedAtOnce)
      try {
        await this.#documents.transact(
          ended.map(({ clientId }) => nameOf(clientId)),
          found => {
            // A later connection has put its own in the place of it.
            const left = ended.filter(({ connection }, place) => found[place]?.connection === connection)
            return {
              put: Object.fromEntries(left.map(({ clientId }) => [nameOf(clientId), null])),
              result: undefined,
            }
          },
        )
      } catch (error) {
        this.#ended.push(...ended)
        throw error
      }
    }
  }
}

const nameOf = (clientId: string) => `${connectionPrefix}${encodeURIComponent(clientId)}`
const clientIdOf = (name: string) => decodeURIComponent(name.slice(connectionPrefix.length))
const isConnectionName = (name: string) => name.startsWith(connectionPrefix)
