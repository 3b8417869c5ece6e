import type { Nodes } from '../../../core/nodes.ts'
import type { RedisDatabase } from '../connection/database.ts'
import type { Client } from '../script.ts'

/** What nodes tell one another without keeping it: Redis' publish and subscribe. */
export class NodeMessages {
  readonly #database: RedisDatabase
  readonly #connect: () => Promise<Client>

  /** @param connect makes a connection of its own: one that listens takes no other commands */
  constructor(database: RedisDatabase, connect: () => Promise<Client>) {
    this.#database = database
    this.#connect = connect
  }

  send(message: Uint8Array): void {
    const { keys } = this.#database
    this.#database.call('PUBLISH', keys.messages, Buffer.from(message)).catch(() => {})
  }

  async listen(...[listener, onMissed]: Parameters<Nodes['listen']>): Promise<() => void> {
    const client = await this.#connect()
    client.on('messageBuffer', (_channel: Buffer, message: Buffer) => listener(message))
    await client.subscribe(this.#database.keys.messages)
    // ioredis subscribes again by itself.
    client.on('ready', onMissed)
    return () => client.disconnect()
  }
}
