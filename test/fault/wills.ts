import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { connectAccepted, type MqttClient } from '../helpers/mqtt-client.ts'
import { type ServerProcess, startServer } from '../helpers/server-process.ts'
import { eventually, within } from '../helpers/waiting.ts'
import { keptDocuments } from './kept-documents.ts'
import { killedAt } from './kill-point.ts'
import { Ledger, type Violations, wholeWrites } from './ledger.ts'
import { type PlannedWrite, planWrite } from './planned-write.ts'
import { storedValues } from './stored-values.ts'

/**
 * How the process ends in which clients with a will are connected. `shutdown`: SIGTERM, and SIGKILL before it is done.
 * In a shutdown: the clients are lost, SIGTERM arrives when their wills are to be committed, and then SIGKILL. After its
 * grace: the process was killed, and the next one is, when it commits the wills.
 */
export const willEnds = [
  'kill',
  'shutdown',
  'before the commit of a will, in a shutdown',
  'after the commit of a will, in a shutdown',
  'before the commit of a will, after its grace',
  'after the commit of a will, after its grace',
] as const
export type WillEnd = (typeof willEnds)[number]

export interface WillRound {
  /** What shows that the process ended there; undefined if it did not. */
  readonly proof: string | undefined
  /** Wills that had to be written, since the first round. */
  readonly due: number
  readonly violations: Violations
  /** Names of documents of wills that are still kept, although none is to be written any more. */
  readonly left: readonly string[]
}

/** Milliseconds. */
const grace = 5_000
/** A client that is back so long after the start is back before the grace is over, milliseconds. */
const backWithin = 4_000
/** For wills to be written, milliseconds. */
const deadline = 30_000
/** In each round, of each kind: lost for good, back within the grace, gone with DISCONNECT. */
const clients = 4

interface Testator {
  readonly clientId: string
  readonly will: PlannedWrite
}

/** Rounds on one data directory of clients with wills, and processes that end. */
export class WillRun {
  readonly #ledger = new Ledger()
  readonly #dataDir: string
  #thing: Thing | undefined
  #round = 0
  #due = 0

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  /** @param end `kept wills` is a defect: the process that writes the wills after their grace keeps them, and is killed */
  async run(end: WillEnd | 'kept wills'): Promise<WillRound> {
    this.#round++
    await rm(this.#proofFile, { force: true })
    const isInShutdown = end.endsWith('in a shutdown')
    const isAfterGrace = end.endsWith('after its grace') || end === 'kept wills'
    const atCommit = killedAt(end, Math.floor(Math.random() * clients), this.#proofFile)
    const server = await this.#start(isInShutdown ? atCommit : {})
    const back = await this.#endWith(server, end)
    if (isAfterGrace) {
      const next = await this.#start(atCommit)
      await this.#comeBack(next, back)
      await within(next.exited, 'the server was not killed at the commit of a will')
    }
    const violations = await this.#writeWills(back)
    const isAtCommit = isInShutdown || isAfterGrace
    const proof = isAtCommit ? await this.#proof() : 'killed from outside'
    const left = await keptDocuments(this.#dataDir, 'mqtt-wills/')
    return { proof, due: this.#due, violations, left }
  }

  /** @returns the clients that are to come back within the grace */
  async #endWith(server: ServerProcess, end: string): Promise<readonly Testator[]> {
    this.#thing ??= await createThing(server)
    const lost = this.#testators(0)
    const back = this.#testators(clients)
    const leaving = this.#testators(2 * clients)
    for (const { will } of lost) this.#ledger.settle(will, 'acked')
    for (const { will } of [...back, ...leaving]) this.#ledger.settle(will, 'refused')
    this.#due += lost.length
    const connected = await Promise.all(lost.map(testator => this.#connect(server, testator)))
    await Promise.all(back.map(testator => this.#connect(server, testator)))
    const departing = await Promise.all(leaving.map(testator => this.#connect(server, testator)))
    await Promise.all(departing.map(client => client.takeLeave()))
    if (end.endsWith('in a shutdown')) {
      await Promise.all(connected.map(client => client.destroy()))
      await within(server.exited, 'the end of a server that is killed at the commit of a will', deadline)
    } else if (end === 'shutdown') {
      server.process.kill('SIGTERM')
      // A shutdown takes some 10 ms where nothing else runs.
      await delay(Math.random() * 20)
    }
    await server.kill()
    return back
  }

  /** Lets the grace pass, and looks at what was written. */
  async #writeWills(back: readonly Testator[]): Promise<Violations> {
    const server = await this.#start()
    try {
      const returned = await this.#comeBack(server, back)
      const due = this.#ledger.withOutcome('acked')
      const things = this.#thing ? [this.#thing] : []
      const isOver = async () => wholeWrites(due, await storedValues(server, things)).length === due.length
      await eventually(isOver, deadline)
      await Promise.all(returned.map(client => client.takeLeave()))
      return this.#ledger.check(await storedValues(server, things))
    } finally {
      await server.stop()
    }
  }

  async #comeBack(server: ServerProcess, back: readonly Testator[]): Promise<readonly MqttClient[]> {
    const started = performance.now()
    const returned = await Promise.all(back.map(testator => this.#connect(server, testator)))
    const took = performance.now() - started
    if (took > backWithin) throw new Error(`the clients came back late: after ${took} ms`)
    return returned
  }

  #testators(first: number): Testator[] {
    return Array.from({ length: clients }, (_, index) => {
      const number = first + index
      const run = `w${this.#round}`
      const plan = { run, way: 'QoS 2', place: 0, number, thing: 0, sizes: 'any' } as const
      const will = planWrite({ ...plan, kinds: ['plain'] })
      this.#ledger.add(will)
      return { clientId: `testator-${this.#round}-${number}`, will }
    })
  }

  async #connect({ mqttUrl: url }: ServerProcess, { clientId, will }: Testator): Promise<MqttClient> {
    const token = this.#thing?.thingToken ?? ''
    return await connectAccepted({
      ...{ url, clientId, username: 'testator', password: token },
      will: { topic: `things/${token}/write`, payload: will.body, qos: 1 },
    })
  }

  #start(environment: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
    return startServer({ dataDir: this.#dataDir, args: ['--will-grace', String(grace)], environment })
  }

  async #proof(): Promise<string | undefined> {
    return existsSync(this.#proofFile) ? await readFile(this.#proofFile, 'utf8') : undefined
  }

  get #proofFile(): string {
    return join(this.#dataDir, 'proof')
  }
}
