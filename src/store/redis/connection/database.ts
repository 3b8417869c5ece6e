import { ReplyError } from 'ioredis'
import { ThingwireError } from '../../../errors.ts'
import type { Keys } from '../keys.ts'
import type { Argument, Caller, Reply, Script } from '../script.ts'

/** The Redis underneath as the parts of a store use it: its keys, the node that asks, and the connection over which it does. */
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

  /** A command, whose bulk strings come as bytes. @throws ThingwireError store_unavailable, store_full */
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

/** What the contract calls an error of Redis or of the connection to it, which is its cause. */
export function storeError(error: unknown): ThingwireError {
  if (error instanceof ThingwireError) return error
  const isFull = error instanceof Error && error.message.startsWith('OOM')
  return new ThingwireError(isFull ? 'store_full' : 'store_unavailable', undefined, { cause: error })
}

/** What a server answers that will take commands again soon: it starts, or another takes its place. */
const passing = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS)\b/

/** Whether it may be another time: the connection was lost, or Redis is not ready. */
export function isPassing(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  return cause instanceof Error && (!(cause instanceof ReplyError) || passing.test(cause.message))
}
