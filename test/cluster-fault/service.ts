import { fileURLToPath } from 'node:url'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'

/** How long wills wait for their clients, milliseconds. */
export const willGrace = 2_000

/** It has a magic resource that counts, so that what is applied twice or out of turn is seen. */
const program = fileURLToPath(new URL('../fault/counting-host.ts', import.meta.url))

/** A node, and its own way to Redis. */
export interface Member {
  readonly server: ServerProcess
  readonly path: TcpPath
}

/** Nodes on one redis-server that has every write on the disk before it answers; they come and go. */
export class Service {
  readonly redis: RedisServer
  readonly #adminKey = createToken()
  #members: readonly Member[] = []

  private constructor(redis: RedisServer) {
    this.redis = redis
  }

  /** Whoever starts it ends it. */
  static async start(count: number): Promise<Service> {
    const service = new Service(await startRedis())
    try {
      for (let place = 0; place < count; place++) await service.add()
    } catch (error) {
      await service.end()
      throw error
    }
    return service
  }

  /** Those that were not killed, the oldest first. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** The node of this place among those that are there, counted round and round. */
  node(place: number): ServerProcess {
    return this.member(place).server
  }

  member(place: number): Member {
    const member = this.#members[place % this.#members.length]
    if (!member) throw new Error('no node is there')
    return member
  }

  has(server: ServerProcess): boolean {
    return this.#members.some(member => member.server === server)
  }

  /** Starts one more; resolves when it is ready. */
  async add(): Promise<void> {
    const path = await openPath(this.redis.port)
    const environment = { ...noRateLimits, THINGWIRE_WILL_GRACE: String(willGrace) }
    const url = `redis://127.0.0.1:${path.port}`
    const server = await startNode(url, this.#adminKey, { environment, program })
    this.#members = [...this.#members, { server, path }]
  }

  /** SIGKILL; resolves when it is gone. */
  async kill({ server, path }: Member): Promise<void> {
    this.#members = this.#members.filter(member => member.server !== server)
    await server.kill()
    await path.close()
  }

  /** Kills what still runs. */
  async end(): Promise<void> {
    await Promise.all(this.#members.map(member => this.kill(member)))
    await this.redis.end()
  }
}
