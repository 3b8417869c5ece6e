import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { HttpConnection } from '../helpers/http-connection.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import type { Device } from './device.ts'
import { isWithinServer, type KillPoint, killedAt } from './kill-point.ts'
import { Ledger, type Violations, wholeWrites } from './ledger.ts'
import { levelLogFile, readLevelLog } from './level-log.ts'
import { postWrite, runLoad } from './load.ts'
import type { PlannedWrite, WriteKind } from './planned-write.ts'
import { createDevices, resumeAll } from './served.ts'
import { storedValues } from './stored-values.ts'
import { Strace } from './strace.ts'

export interface Kill {
  readonly point: KillPoint
  /** What shows that the point was reached; undefined if it was not. */
  readonly proof: string | undefined
  /** In this round. */
  readonly acks: number
  /** Writes sent in this round that were neither acked nor refused, and how many of them the store has. */
  readonly uncertain: number
  readonly kept: number
  /** Writes that had got PUBREC and no PUBCOMP. */
  readonly released: number
  /** Of everything written since the first round. */
  readonly violations: Violations
}

export interface KillRunSetup {
  /** Empty or missing. */
  readonly dataDir: string
  /** Over HTTP. */
  readonly connections: number
  /** Over MQTT; every third has a clean session. */
  readonly devices: number
  /** Of the writes of the load. Default: all. */
  readonly kinds?: readonly WriteKind[]
}

const thingCount = 3
/** Milliseconds in which a point is to be reached. */
const deadline = 30_000

/** Rounds of load, kill, restart and check on one data directory. */
export class KillRun {
  readonly ledger = new Ledger()
  readonly #setup: KillRunSetup
  #things: readonly Thing[] = []
  #devices: readonly Device[] = []
  #round = 0

  constructor(setup: KillRunSetup) {
    this.#setup = setup
  }

  async kill(point: KillPoint): Promise<Kill> {
    this.#round++
    const acked = this.ledger.acks()
    await rm(this.#proofFile, { force: true })
    await this.#loadUntilKilled(point)
    const isTorn = point === 'torn write' && (await this.#isLogTorn())
    if (point === 'during reopen') await this.#killReopening()
    const released = this.#devices.flatMap(device => device.released).length
    const { kept, ...checked } = await this.#restarted(server => this.#check(server))
    const proof = await this.#proofOf(point, isTorn, kept, released)
    return { point, proof, acks: this.ledger.acks() - acked, kept: kept.length, released, ...checked }
  }

  /** What the store holds at the end, after everything that was sent again. */
  async finalCheck(): Promise<Violations> {
    return await this.#restarted(async server => {
      await resumeAll(this.#devices, server)
      return this.ledger.check(await storedValues(server, this.#things))
    })
  }

  async #loadUntilKilled(point: KillPoint): Promise<void> {
    const isInside = isWithinServer(point)
    const server = await this.#start(isInside ? this.#faults(point, 10 + Math.floor(Math.random() * 40)) : {})
    const overdue = setTimeout(() => server.kill(), deadline)
    try {
      if (this.#things.length === 0) await this.#createDevices(server)
      const strace = point === 'torn write' ? await this.#killWithinLogWrite(server) : undefined
      const load = this.#load(server, point)
      if (!isInside && !strace) {
        await delay(200 + Math.random() * 800)
        await server.kill()
      }
      await Promise.all([load, server.exited, strace?.ended()])
    } finally {
      clearTimeout(overdue)
      await server.kill()
    }
  }

  async #createDevices(server: ServerProcess): Promise<void> {
    this.#things = await Promise.all(Array.from({ length: thingCount }, () => createThing(server)))
    this.#devices = createDevices(this.#things, this.#setup.devices, this.ledger)
  }

  async #load({ url, mqttUrl }: ServerProcess, point: KillPoint): Promise<void> {
    const { connections, kinds } = this.#setup
    await runLoad({
      url,
      mqttUrl,
      things: this.#things,
      devices: this.#devices,
      ledger: this.ledger,
      run: `r${this.#round}`,
      connections,
      // A group that LevelDB's log takes in one piece cannot be torn.
      sizes: point === 'torn write' ? 'any' : 'mostly small',
      ...(kinds && { kinds }),
    })
  }

  async #killWithinLogWrite(server: ServerProcess): Promise<Strace> {
    const path = await levelLogFile(this.#setup.dataDir)
    // Counted by strace for each thread of the pool apart.
    const when = 50 + Math.floor(Math.random() * 150)
    const inject = `inject=write:signal=SIGKILL:when=${when}`
    return await Strace.attach(Number(server.process.pid), [
      ...['-P', path, '-e', 'trace=write', '-e', inject],
    ])
  }

  async #killReopening(): Promise<void> {
    const outcome = await this.#start(this.#faults('during reopen', Math.random() * 10)).catch(() => 'killed')
    if (outcome !== 'killed') throw new Error('the server was not killed while it opened the store')
  }

  /**
   * Checks, then sends again what was not answered and may be sent again. Every other device does so only in the load
   * of the next round, and may be interrupted in it.
   */
  async #check(server: ServerProcess) {
    const stored = await storedValues(server, this.#things)
    // A write of the round before may have been resent in this one, and its ack be what was about to be sent.
    const inFlight = new Set(this.#devices.flatMap(device => device.inFlight))
    const uncertain = this.ledger
      .withOutcome('uncertain')
      .filter(write => this.#isOfThisRound(write) || inFlight.has(write))
    const kept = wholeWrites(uncertain, stored)
    const violations = this.ledger.check(stored)
    const connection = new HttpConnection(server.url)
    for (const write of uncertain.filter(({ way, repeatable }) => way === 'HTTP' && repeatable)) {
      this.ledger.resend(write)
      await postWrite(connection, this.#things, this.ledger, write)
    }
    connection.close()
    const half = this.#devices.filter((_, number) => number % 2 === this.#round % 2)
    await resumeAll(half, server)
    return { uncertain: uncertain.length, kept, violations }
  }

  #isOfThisRound({ name }: PlannedWrite): boolean {
    return name.startsWith(`r${this.#round}-`)
  }

  async #proofOf(
    point: KillPoint,
    isTorn: boolean,
    kept: readonly PlannedWrite[],
    released: number,
  ): Promise<string | undefined> {
    if (point === 'random moment') return 'killed from outside'
    if (point === 'torn write') return isTorn ? 'the log ends within a record' : undefined
    if (!existsSync(this.#proofFile)) return undefined
    const proof = await readFile(this.#proofFile, 'utf8')
    const isSeen: Partial<Record<KillPoint, boolean>> = {
      'after commit': kept.length > 0,
      'QoS 1 before PUBACK': kept.some(({ way }) => way === 'QoS 1'),
      'QoS 2 before commit': !kept.some(({ name }) => proof.split(' ').includes(name)),
      'QoS 2 before PUBREC': kept.some(({ way }) => way === 'QoS 2'),
      'QoS 2 before PUBREL': released > 0,
      'QoS 2 before PUBCOMP': released > 0,
    }
    return isSeen[point] === false ? undefined : proof
  }

  async #isLogTorn(): Promise<boolean> {
    return readLevelLog(await readFile(await levelLogFile(this.#setup.dataDir))).isTorn
  }

  async #restarted<T>(task: (server: ServerProcess) => Promise<T>): Promise<T> {
    const server = await this.#start()
    try {
      return await task(server)
    } finally {
      await server.stop()
    }
  }

  #start(environment: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
    return startServer({ dataDir: this.#setup.dataDir, environment: { ...noRateLimits, ...environment } })
  }

  get #proofFile(): string {
    return join(this.#setup.dataDir, 'proof')
  }

  #faults(point: KillPoint, after: number): NodeJS.ProcessEnv {
    return killedAt(point, after, this.#proofFile)
  }
}
