import type { Redis } from 'ioredis'
import { retryUntil } from '../../../core/async/retry-until.ts'
import type { Nodes } from '../../../core/nodes.ts'
import type { RedisDatabase } from '../connection/database.ts'

/** Milliseconds. */
const retryAfter = 100
/** A script, since PUBLISH has no key: ioredis would send messages to various servers of a cluster, and lose their order. */
const publish = "return redis.call('PUBLISH', KEYS[1], ARGV[1])"

/** Messages between nodes, sent with PUBLISH and SUBSCRIBE. Redis does not store them. */
export class NodeMessages {
  readonly #database: RedisDatabase
  readonly #connect: (key: string) => Promise<Redis>
  readonly #stops = new Set<() => void>()

  /** @param connect opens a separate connection, which does not reconnect, to the server that has the key */
  constructor(database: RedisDatabase, connect: (key: string) => Promise<Redis>) {
    this.#database = database
    this.#connect = connect
  }

  send(message: Uint8Array): void {
    const { keys } = this.#database
    this.#database.call('EVAL', publish, 1, keys.messages, Buffer.from(message)).catch(() => {})
  }

  async listen(...[listener, onMissed]: Parameters<Nodes['listen']>): Promise<() => void> {
    const stopped = new AbortController()
    const channel = this.#database.keys.messages
    let current: Redis | undefined
    const open = async () => {
      const redis = await this.#connect(channel)
      current = redis
      redis.on('messageBuffer', (_channel: Buffer, message: Buffer) => listener(message))
      try {
        await redis.subscribe(channel)
      } catch (error) {
        redis.disconnect()
        throw error
      }
      if (stopped.signal.aborted) redis.disconnect()
      else redis.once('end', () => void openAgain())
    }
    // Opens a new connection, since another server may have the channel now.
    const openAgain = async () => {
      const { signal } = stopped
      await retryUntil(open, { every: retryAfter, stop: signal })
      if (!signal.aborted) onMissed()
    }
    const stop = () => {
      stopped.abort()
      current?.disconnect()
      this.#stops.delete(stop)
    }
    this.#stops.add(stop)
    await open()
    return stop
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
