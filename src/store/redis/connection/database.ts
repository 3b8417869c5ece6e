import { ReplyError } from 'ioredis'
import { ThingwireError } from '../../../errors.ts'
import type { Keys } from '../keys.ts'
import type { Argument, Caller, Reply, Script } from '../script.ts'

/** A connection to the Redis of a store, with the keys of the store and the name of this node. */
export class RedisDatabase {
  readonly keys: Keys
  readonly node: string
  readonly #client: Caller

  constructor(keys: Keys, node: string, client: Caller) {
    this.keys = keys
    this.node = node
    this.#client = client
  }

  /** @throws ThingwireError store_unavailable, store_full */
  async run(script: Script, ...args: readonly Argument[]): Promise<Reply> {
    return await orStoreError(script.run(this.#client, this.keys.head, args))
  }

  /** @returns the reply, with bulk strings as bytes @throws ThingwireError store_unavailable, store_full */
  async call(command: string, ...args: readonly Argument[]): Promise<Reply> {
    return await orStoreError(this.#client.callBuffer(command, ...args) as Promise<Reply>)
  }
}

async function orStoreError<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw storeError(error)
  }
}

/** Converts an error of Redis, or of the connection, to an error of the contract. */
export function storeError(error: unknown): ThingwireError {
  if (error instanceof ThingwireError) return error
  const isFull = error instanceof Error && error.message.startsWith('OOM')
  return new ThingwireError(isFull ? 'store_full' : 'store_unavailable', undefined, { cause: error })
}

/** Replies of a server that is starting, is busy, or is being replaced. */
const passing = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS)\b/

/** Whether the same call may succeed later: the connection was lost, or Redis is not ready. */
export function isPassing(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  return cause instanceof Error && (!(cause instanceof ReplyError) || passing.test(cause.message))
}
