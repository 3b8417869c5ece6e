import { fileURLToPath } from 'node:url'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type LoadBalancer, startLoadBalancer } from '../helpers/load-balancer.ts'
import { otherClock } from '../helpers/other-clock.ts'
import { freePort, type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { type Exit, noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'

/** How long wills wait for their clients, milliseconds. */
export const willGrace = 2_000

/** It has a magic resource that counts, so that what is applied twice or out of turn is seen. */
const program = fileURLToPath(new URL('../fault/counting-host.ts', import.meta.url))

/** A node, and its own way to Redis. */
export interface Member {
  readonly server: ServerProcess
  readonly path: TcpPath
  /** Where it listens, if it has to be the same after a restart. */
  readonly ports: readonly string[]
}

interface ServiceSetup {
  /** Whether clients come through a load balancer, to servers as they are shipped. Else each chooses a node. */
  readonly isBalanced: boolean
  /** By how much the clock of each node is ahead, seconds; negative: behind. Absent: all have the right time. */
  readonly clocks?: readonly number[]
  /** Of the nodes, on top of their own. */
  readonly environment?: NodeJS.ProcessEnv
}

/** Nodes on one redis-server that has every write on the disk before it answers; they come and go. */
export class Service {
  readonly redis: RedisServer
  readonly #isBalanced: boolean
  readonly #clocks: readonly number[]
  readonly #environment: NodeJS.ProcessEnv
  readonly #adminKey = createToken()
  /** How many nodes were started. */
  #started = 0
  #members: readonly Member[] = []
  #balancer: LoadBalancer | undefined
  /** What clients of the load balancer take for the server. */
  #front: ServerProcess | undefined

  private constructor(redis: RedisServer, { isBalanced, clocks = [], environment = {} }: ServiceSetup) {
    this.redis = redis
    this.#isBalanced = isBalanced
    this.#clocks = clocks
    this.#environment = environment
  }

  /** Whoever starts it ends it. */
  static async start(count: number, setup: ServiceSetup): Promise<Service> {
    const service = new Service(await startRedis(), setup)
    try {
      for (let place = 0; place < count; place++) await service.add()
      if (setup.isBalanced) await service.#balance()
    } catch (error) {
      await service.end()
      throw error
    }
    return service
  }

  /** Those that were not ended, the oldest first. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** What a client of this number goes to: the load balancer, or one node after the other. */
  node(place: number): ServerProcess {
    return this.#front ?? this.member(place).server
  }

  /** The node of this place among those that are there, counted round and round. */
  member(place: number): Member {
    const member = this.#members[place % this.#members.length]
    if (!member) throw new Error('no node is there')
    return member
  }

  /** Whether it was not ended, as far as a client can see. */
  has(server: ServerProcess): boolean {
    return server === this.#front || this.#members.some(member => member.server === server)
  }

  /** Each through another node than the one before. */
  createThings(count: number): Promise<readonly Thing[]> {
    return Promise.all(Array.from({ length: count }, (_, place) => createThing(this.node(place))))
  }

  /** How many nodes the load balancer gives clients. */
  async ready(): Promise<number> {
    return (await this.#balancer?.ready()) ?? 0
  }

  /** Starts one more; resolves when it is ready. */
  async add(): Promise<void> {
    const ports = this.#isBalanced ? [String(await freePort()), String(await freePort())] : []
    const path = await openPath(this.redis.port)
    this.#members = [...this.#members, { server: await this.#launch(path, ports), path, ports }]
  }

  /** SIGTERM, and started again in its place when it is gone; resolves when it is ready. */
  async restart(member: Member): Promise<Exit> {
    const exit = await member.server.stop()
    const server = await this.#launch(member.path, member.ports)
    this.#members = this.#members.map(each => (each === member ? { ...member, server } : each))
    return exit
  }

  /** SIGKILL; resolves when it is gone. */
  kill(member: Member): Promise<Exit> {
    return this.#remove(member, ({ server }) => server.kill())
  }

  /** SIGTERM; resolves when it is gone. */
  stop(member: Member): Promise<Exit> {
    return this.#remove(member, ({ server }) => server.stop())
  }

  /** Kills what still runs. */
  async end(): Promise<void> {
    await this.#balancer?.end()
    await Promise.all(this.#members.map(member => this.kill(member)))
    await this.redis.end()
  }

  async #remove(member: Member, end: (member: Member) => Promise<Exit>): Promise<Exit> {
    this.#members = this.#members.filter(({ server }) => server !== member.server)
    const exit = await end(member)
    await member.path.close()
    return exit
  }

  async #balance(): Promise<void> {
    this.#balancer = await startLoadBalancer(this.#members.map(({ server }) => server))
    const { url, mqttUrl, webSocketUrl } = this.#balancer
    this.#front = { ...this.member(0).server, url, mqttUrl, webSocketUrl }
  }

  async #launch({ port }: TcpPath, [http, mqtt]: readonly string[]): Promise<ServerProcess> {
    const ahead = this.#clocks[this.#started++ % this.#clocks.length] ?? 0
    const environment = {
      ...noRateLimits,
      ...(ahead !== 0 && (await otherClock(`${ahead < 0 ? '' : '+'}${ahead}`))),
      THINGWIRE_WILL_GRACE: String(willGrace),
      ...this.#environment,
    }
    const url = `redis://127.0.0.1:${port}`
    if (http === undefined || mqtt === undefined) {
      const server = await startNode(url, this.#adminKey, { environment, program })
      await assertClock(server, ahead)
      return server
    }
    return await startNode(url, this.#adminKey, {
      environment: { ...environment, THINGWIRE_TRUSTED_PROXIES: '127.0.0.1' },
      args: ['--http-port', http, '--mqtt-port', mqtt],
    })
  }
}

/** Within which a clock is read over HTTP, seconds: the header has whole seconds. */
const precision = 3

/** @throws Error if the clock of the server is not ahead by so many seconds */
async function assertClock({ url }: ServerProcess, ahead: number): Promise<void> {
  const { headers } = await fetch(`${url}/healthz`)
  const shown = (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000
  if (Math.abs(shown - ahead) < precision) return
  throw new Error(`the clock of a node is ahead by ${shown} s, not ${ahead} s: apt install faketime`)
}
