import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { Ledger, type PlannedWrite, type Violations, wholeWrites } from './ledger.ts'
import { levelLogFile, readLevelLog } from './level-log.ts'
import { Connection, postWrite, runLoad } from './load.ts'
import { storedValues } from './stored-values.ts'
import { Strace } from './strace.ts'

/**
 * Where a process is killed under load. `torn write`: between two of the writes to the log that one group takes.
 * `early ack` is a defect, see kill-points.ts.
 */
export type KillPoint =
  | 'random moment'
  | 'after commit'
  | 'during commit'
  | 'torn write'
  | 'during reopen'
  | 'early ack'

export const killPoints = [
  'random moment',
  'after commit',
  'during commit',
  'torn write',
  'during reopen',
] as const satisfies readonly KillPoint[]

export interface Kill {
  readonly point: KillPoint
  /** What shows that the point was reached; undefined if it was not. */
  readonly proof: string | undefined
  /** In this round's load. */
  readonly acks: number
  /** Writes that were neither acked nor refused, and how many of them the store has. */
  readonly uncertain: number
  readonly kept: number
  /** Of everything written since the first round. */
  readonly violations: Violations
}

const thingCount = 3
const preload = [import.meta.resolve('tsx'), new URL('kill-points.ts', import.meta.url).href]

/** Rounds of load, kill, restart and check on one data directory. */
export class KillRun {
  readonly ledger = new Ledger()
  readonly #dataDir: string
  readonly #connections: number
  #things: readonly Thing[] = []
  #round = 0

  constructor(dataDir: string, connections: number) {
    this.#dataDir = dataDir
    this.#connections = connections
  }

  async kill(point: KillPoint): Promise<Kill> {
    this.#round++
    const acked = this.ledger.withOutcome('acked').length
    await rm(this.#proofFile, { force: true })
    await this.#loadUntilKilled(point)
    const acks = this.ledger.withOutcome('acked').length - acked
    const isTorn = point === 'torn write' && (await this.#isLogTorn())
    if (point === 'during reopen') await this.#killReopening()
    const checked = await this.#restarted(server => this.#check(server))
    return { point, acks, proof: await this.#proofOf(point, isTorn, checked.kept), ...checked }
  }

  /** What the store holds at the end, after everything that was repeated. */
  async finalCheck(): Promise<Violations> {
    return await this.#restarted(async server => this.ledger.check(await storedValues(server, this.#things)))
  }

  async #loadUntilKilled(point: KillPoint): Promise<void> {
    const isInside = point === 'after commit' || point === 'during commit' || point === 'early ack'
    const server = await this.#start(isInside ? this.#faults(point, 20 + Math.floor(Math.random() * 80)) : {})
    try {
      if (this.#things.length === 0) {
        this.#things = await Promise.all(Array.from({ length: thingCount }, () => createThing(server)))
      }
      const strace = point === 'torn write' ? await this.#killWithinLogWrite(server) : undefined
      const load = this.#load(server, point)
      if (!isInside && !strace) {
        await delay(200 + Math.random() * 800)
        await server.kill()
      }
      await Promise.all([load, server.exited, strace?.ended()])
    } finally {
      await server.kill()
    }
  }

  async #load({ url }: ServerProcess, point: KillPoint): Promise<void> {
    await runLoad({
      url,
      things: this.#things,
      ledger: this.ledger,
      run: `r${this.#round}`,
      connections: this.#connections,
      // A group that LevelDB's log takes in one piece cannot be torn.
      sizes: point === 'torn write' ? 'any' : 'mostly small',
    })
  }

  async #killWithinLogWrite(server: ServerProcess): Promise<Strace> {
    const path = await levelLogFile(this.#dataDir)
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

  /** Checks, then sends again what was not answered and may be sent again. */
  async #check(server: ServerProcess) {
    const stored = await storedValues(server, this.#things)
    const uncertain = this.ledger.withOutcome('uncertain').filter(({ name }) => this.#isOfThisRound(name))
    const kept = wholeWrites(uncertain, stored).length
    const violations = this.ledger.check(stored)
    const connection = new Connection(server.url)
    for (const write of uncertain.filter(({ repeatable }) => repeatable)) {
      await postWrite(connection, this.#things, this.ledger, write)
    }
    connection.close()
    return { uncertain: uncertain.length, kept, violations }
  }

  #isOfThisRound(name: PlannedWrite['name']): boolean {
    return name.startsWith(`r${this.#round}-`)
  }

  async #proofOf(point: KillPoint, isTorn: boolean, kept: number): Promise<string | undefined> {
    if (point === 'random moment') return 'killed from outside'
    if (point === 'torn write') return isTorn ? 'the log ends within a record' : undefined
    if (point === 'after commit' && kept === 0) return undefined
    return existsSync(this.#proofFile) ? await readFile(this.#proofFile, 'utf8') : undefined
  }

  async #isLogTorn(): Promise<boolean> {
    return readLevelLog(await readFile(await levelLogFile(this.#dataDir))).isTorn
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
    return startServer({ dataDir: this.#dataDir, environment })
  }

  get #proofFile(): string {
    return join(this.#dataDir, 'proof')
  }

  #faults(point: KillPoint, after: number): NodeJS.ProcessEnv {
    return {
      NODE_OPTIONS: preload.map(url => `--import=${url}`).join(' '),
      FAULT_POINT: point,
      FAULT_AFTER: String(after),
      FAULT_PROOF: this.#proofFile,
    }
  }
}
