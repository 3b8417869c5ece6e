import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type LoadBalancer, startLoadBalancer } from '../helpers/load-balancer.ts'
import { otherClock } from '../helpers/other-clock.ts'
import { preload } from '../helpers/preload.ts'
import { freePort, type RedisServer, startRedis } from '../helpers/redis-server.ts'
import { type Exit, noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'

/** How long wills wait for their clients, milliseconds: at nodes, and at one server. */
export const willGrace = { nodes: 2_000, alone: 5_000 } as const

/** It has a magic resource that counts, so that what is applied twice or out of turn is seen. */
const program = fileURLToPath(new URL('magic/counting-host.ts', import.meta.url))

/** A node, and its own way to Redis. */
export interface Member {
  readonly server: ServerProcess
  readonly path?: TcpPath
  /** Where it listens, if it has to be the same after a restart. */
  readonly ports: readonly string[]
}

export interface ServiceSetup {
  /** Of one server with its embedded store, empty or missing. Absent: two nodes on one Redis. */
  readonly dataDir?: string
  /** Whether clients come through a load balancer, to servers as they are shipped. Else each chooses a node. */
  readonly isBalanced?: boolean
  /** By how much the clock of each node is ahead, seconds; negative: behind. Absent: all have the right time. */
  readonly clocks?: readonly number[]
  /** Of the servers, on top of their own. */
  readonly environment?: NodeJS.ProcessEnv
  readonly args?: readonly string[]
  /** Whether the one server has the magic resource that counts. Else it is the command as it is shipped. */
  readonly isCounting?: boolean
}

/**
 * One server on its data directory, which is killed at named points; or nodes on one redis-server that has every write on the disk
 * before it answers. They come and go.
 */
export class Service {
  readonly #setup: ServiceSetup
  readonly #redis: RedisServer | undefined
  readonly #adminKey = createToken()
  /** How many nodes were started. */
  #started = 0
  #members: readonly Member[] = []
  #hasEnded = false
  #balancer: LoadBalancer | undefined
  /** What clients of the load balancer take for the server. */
  #front: ServerProcess | undefined

  private constructor(setup: ServiceSetup, redis?: RedisServer) {
    this.#setup = setup
    this.#redis = redis
  }

  /** Whoever starts it ends it. */
  static async start(setup: ServiceSetup): Promise<Service> {
    const service = new Service(setup, setup.dataDir === undefined ? await startRedis() : undefined)
    try {
      for (let place = 0; place < (service.isAlone ? 1 : 2); place++) await service.add()
      if (setup.isBalanced) await service.#balance()
    } catch (error) {
      await service.end()
      throw error
    }
    return service
  }

  /** Whether it is one server with its embedded store. */
  get isAlone(): boolean {
    return this.#redis === undefined
  }

  get redis(): RedisServer {
    if (!this.#redis) throw new Error('there is no Redis')
    return this.#redis
  }

  get dataDir(): string {
    return this.#setup.dataDir ?? ''
  }

  get willGrace(): number {
    return this.isAlone ? willGrace.alone : willGrace.nodes
  }

  /** Those that were not ended, the oldest first. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** What a client of this number goes to: the load balancer, or one node after the other. @throws Error if none is there */
  node(place: number): ServerProcess {
    return this.#front ?? this.member(place).server
  }

  /** As `node`, once one is there. @throws Error if none comes any more */
  async reach(place: number): Promise<ServerProcess> {
    while (this.#members.length === 0 && !this.#hasEnded) await delay(5)
    return this.node(place)
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
    if (this.isAlone) return this.admit(await this.launch())
    const ports = this.#setup.isBalanced ? [String(await freePort()), String(await freePort())] : []
    const path = await openPath(this.redis.port)
    this.#members = [...this.#members, { server: await this.#launchNode(path, ports), path, ports }]
  }

  /** SIGTERM, and started again in its place when it is gone; resolves when it is ready. */
  async restart(member: Member): Promise<Exit> {
    const exit = await member.server.stop()
    const server = await this.#launchNode(member.path as TcpPath, member.ports)
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
    this.#hasEnded = true
    await this.#balancer?.end()
    await Promise.all(this.#members.map(member => this.kill(member)))
    await this.#redis?.end()
  }

  /**
   * Starts the one server; no client knows of it before `admit`.
   *
   * @param point at which it kills itself from its start on, see test/fault/kill-points.ts
   * @param after commits, acks or wills before it, or for `during reopen` milliseconds
   * @throws Error if it ends before it is ready
   */
  async launch(point?: string, after = 0): Promise<ServerProcess> {
    const { dataDir } = this
    await mkdir(dataDir, { recursive: true })
    if (point !== undefined) await rm(this.#file('proof'), { force: true })
    const environment = {
      ...noRateLimits,
      ...preload(new URL('../fault/kill-points.ts', import.meta.url)),
      ...{ FAULT_PROOF: this.#file('proof'), FAULT_ORDER: this.#file('order') },
      ...(point !== undefined && { FAULT_POINT: point, FAULT_AFTER: String(after) }),
      THINGWIRE_WILL_GRACE: String(this.willGrace),
      ...this.#setup.environment,
    }
    const { args = [], isCounting } = this.#setup
    return await startServer({ dataDir, environment, args, ...(isCounting && { program }) })
  }

  /** Clients come to the server that was launched, until it is gone. */
  admit(server: ServerProcess): void {
    this.#members = [{ server, ports: [] }]
    void server.exited.then(() => {
      this.#members = this.#members.filter(member => member.server !== server)
    })
  }

  /** From now on the one server is to kill itself at this point. */
  async order(point: string, after: number): Promise<void> {
    await rm(this.#file('proof'), { force: true })
    await writeFile(this.#file('order'), JSON.stringify({ point, after }))
    const { server } = this.member(0)
    server.process.kill('SIGUSR2')
    await server.logged(new RegExp(`^armed: ${point}$`, 'm'))
  }

  /** What the server that died has written of the point at which it was; undefined if it did not come so far. */
  async proof(): Promise<string | undefined> {
    return existsSync(this.#file('proof')) ? await readFile(this.#file('proof'), 'utf8') : undefined
  }

  #file(name: 'proof' | 'order'): string {
    return join(this.dataDir, name)
  }

  async #remove(member: Member, end: (member: Member) => Promise<Exit>): Promise<Exit> {
    this.#members = this.#members.filter(({ server }) => server !== member.server)
    const exit = await end(member)
    await member.path?.close()
    return exit
  }

  async #balance(): Promise<void> {
    this.#balancer = await startLoadBalancer(this.#members.map(({ server }) => server))
    const { url, mqttUrl, webSocketUrl } = this.#balancer
    this.#front = { ...this.member(0).server, url, mqttUrl, webSocketUrl }
  }

  async #launchNode({ port }: TcpPath, [http, mqtt]: readonly string[]): Promise<ServerProcess> {
    const { clocks = [] } = this.#setup
    const ahead = clocks[this.#started++ % clocks.length] ?? 0
    const environment = {
      ...noRateLimits,
      ...(ahead !== 0 && otherClock(`${ahead < 0 ? '' : '+'}${ahead}`)),
      THINGWIRE_WILL_GRACE: String(this.willGrace),
      ...this.#setup.environment,
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
