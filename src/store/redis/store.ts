import { randomBytes } from 'node:crypto'
import type { Observer } from '../../core/observer.ts'
import { ThingwireError } from '../../errors.ts'
import type { DriverDocuments, StoreDriver, StoreSize } from '../contract.ts'
import { duplicateForBlocking, openClient } from './connection/connection.ts'
import { RedisDatabase } from './connection/database.ts'
import { checkDurability, type DurabilityOptions } from './connection/durability.ts'
import { openFormat } from './connection/format.ts'
import { memorySize } from './connection/memory-size.ts'
import { NumberedWrites } from './connection/numbered-writes.ts'
import { waitingForReplicas } from './connection/replicas.ts'
import type { Statement } from './connection/statement.ts'
import { tellOutages } from './connection/tell-outages.ts'
import { createDocuments } from './documents.ts'
import { Keys } from './keys.ts'
import { Follower } from './log/follower.ts'
import { RedisHolds } from './nodes/holds.ts'
import { RedisNodes } from './nodes/nodes.ts'
import { RedisReceipts } from './nodes/receipt-clock.ts'
import { RedisClock } from './nodes/redis-clock.ts'
import { RedisRecords } from './records.ts'
import { RedisRefusedWrites } from './refused-writes.ts'
import type { Client } from './script.ts'

export interface RedisStoreOptions extends DurabilityOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS; of a cluster one node or several, with commas. */
  readonly url: string
  /** What the names of all keys begin with. Default `thingwire`. */
  readonly prefix?: string
  /** Told of each commit. Default: nobody. */
  readonly observer?: Pick<Observer, 'committed'>
  /** Told what an ack means, and what else an operator should know, as it happens; must not throw. Default: nobody. */
  readonly onStatement?: (statement: Statement) => void
}

/** The store for many nodes: Redis 7 or Redis Cluster. */
export function createRedisStore(options: RedisStoreOptions): StoreDriver {
  return new RedisStore(options)
}

class RedisStore implements StoreDriver {
  readonly capabilities = { durable: true, shared: true, backup: false }
  readonly #options: RedisStoreOptions
  #parts: Parts | undefined

  constructor(options: RedisStoreOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    const { url, prefix = 'thingwire', onStatement = () => {} } = this.#options
    const client = await openClient(url)
    try {
      const { statements, warnings } = await checkDurability(client, this.#options)
      for (const text of statements) onStatement({ level: 'info', text })
      for (const text of warnings) onStatement({ level: 'warn', text })
      await openFormat(client, prefix)
      this.#parts = await openParts(client, new Keys(prefix), this.#options)
    } catch (error) {
      client.disconnect()
      throw error
    }
  }

  get records() {
    return this.#opened.records
  }

  get documents() {
    return this.#opened.documents
  }

  get refused() {
    return this.#opened.refused
  }

  get nodes() {
    return this.#opened.nodes
  }

  get holds() {
    return this.#opened.holds
  }

  get clock() {
    return this.#opened.clock
  }

  backup(): never {
    throw new ThingwireError(
      'not_found',
      'a store in Redis has no backup command: see docs/use/several-nodes.md',
    )
  }

  isReady(): boolean {
    return this.#opened.client.status === 'ready'
  }

  size(): Promise<StoreSize> {
    return memorySize(this.#opened.client)
  }

  async close(): Promise<void> {
    const { nodes, follower, clients, stopTelling } = this.#opened
    await nodes.close()
    await follower.close()
    stopTelling()
    for (const client of clients) client.disconnect()
  }

  get #opened(): Parts {
    if (!this.#parts) throw new ThingwireError('store_unavailable', 'the store is not open')
    return this.#parts
  }
}

interface Parts {
  readonly client: Client
  readonly clients: readonly Client[]
  readonly follower: Follower
  readonly records: RedisRecords
  readonly documents: DriverDocuments
  readonly refused: RedisRefusedWrites
  readonly nodes: RedisNodes
  readonly holds: RedisHolds
  readonly clock: RedisReceipts
  /** Of lost connections. */
  readonly stopTelling: () => void
}

async function openParts(client: Client, keys: Keys, options: RedisStoreOptions): Promise<Parts> {
  const { onStatement = () => {} } = options
  const clients = [client]
  const another = async () => {
    const opened = await duplicateForBlocking(client)
    clients.push(opened)
    return opened
  }
  try {
    const node = randomBytes(12).toString('base64url')
    const database = new RedisDatabase(keys, node, client)
    const durable = options.replicas
      ? new RedisDatabase(keys, node, waitingForReplicas(await another(), options))
      : database
    const clock = new RedisClock()
    const writes = new NumberedWrites(durable, clock)
    const follower = new Follower(await another(), keys, node)
    const records = new RedisRecords(database, durable, writes, follower, options.observer)
    const holds = new RedisHolds(database, follower, (change, ticket) =>
      records.commits.push({ change, ticket }),
    )
    const receipts = new RedisReceipts(clock, follower.listeners)
    const nodes = new RedisNodes(database, follower.listeners, clock, receipts, holds, onStatement)
    const documents = createDocuments(database, writes, {
      put: (encoded, ticket, hold) => records.commits.push({ change: { documents: encoded, hold }, ticket }),
      alone: task => records.commits.alone(task),
    })
    await nodes.open()
    await records.open()
    return {
      client,
      clients,
      follower,
      records,
      documents,
      refused: new RedisRefusedWrites(database),
      nodes,
      holds,
      clock: receipts,
      stopTelling: tellOutages(client, onStatement),
    }
  } catch (error) {
    for (const opened of clients) opened.disconnect()
    throw error
  }
}
