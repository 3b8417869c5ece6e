import { setTimeout as delay } from 'node:timers/promises'
import type { ServerProcess } from '../helpers/server-process.ts'
import { Audience } from './audience.ts'
import { KilledServer } from './killed-server.ts'

/** Where a process is killed that has messages for sessions. `on its return`: the one after it is killed, too. */
export const sessionKillPoints = [
  'random moment',
  'after commit',
  'PUBLISH sent to a session',
  'PUBACK of a session arrived',
  'while a session is read',
  'before the cursor of a session is saved',
  'after the cursor of a session is saved',
  'PUBLISH sent to a session, on its return',
] as const
export type SessionKillPoint = (typeof sessionKillPoints)[number]

export interface SessionKill {
  /** `forgotten log` is a defect, see session-points.ts. */
  readonly point: SessionKillPoint | 'forgotten log'
  /** What shows that the point was reached; undefined if it was not. */
  readonly proof: string | undefined
  /** Times that a process was killed. */
  readonly kills: number
  /** In this round. */
  readonly acks: number
  /** Messages that came again, since the first round. */
  readonly repeated: number
  /** Since the first round, in words. In what order came what came behind the kill, is known at the end of the next. */
  readonly violations: readonly string[]
}

const onReturn = ', on its return'
/** In which a point is to be reached, milliseconds. */
const reachedWithin = 10_000

/** Rounds of load, kill and return on one data directory. */
export class SessionRun {
  readonly #server: KilledServer
  readonly #audience: Audience

  /**
   * @param dataDir empty or missing
   * @param deadline for what was stored to be received, milliseconds
   */
  constructor(dataDir: string, deadline = 30_000) {
    this.#server = new KilledServer(dataDir)
    this.#audience = new Audience(deadline)
  }

  async kill(point: SessionKill['point']): Promise<SessionKill> {
    const audience = this.#audience
    const acked = audience.acks
    const server = await this.#server.start()
    await audience.begin(server)
    const isOnReturn = point.endsWith(onReturn)
    await this.#loadUntilKilled(server, isOnReturn ? 'random moment' : point)
    await this.#checkOrder()
    if (isOnReturn) {
      const after = Math.floor(Math.random() * 100)
      await this.#server.startAndDie(point.slice(0, -onReturn.length), after, it => audience.connect(it))
      await this.#checkOrder()
    }
    const proof = point === 'random moment' ? 'killed from outside' : await this.#server.proof()
    const next = await this.#server.start()
    await audience.connect(next)
    await audience.settle(next)
    const { violations, repeated } = audience
    return { point, proof, kills: isOnReturn ? 2 : 1, acks: audience.acks - acked, repeated, violations }
  }

  /** Everything that is wrong, in words. To be called last. */
  async finish(): Promise<readonly string[]> {
    await this.#audience.leave()
    await this.#server.stop()
    await this.#checkOrder()
    return this.#audience.violations
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    await this.#server.abandon()
  }

  async #loadUntilKilled(server: ServerProcess, point: string): Promise<void> {
    const isRandom = point === 'random moment'
    await this.#audience.leaveAway()
    const isRare = point.endsWith('the cursor of a session is saved')
    await this.#server.order(server, point, Math.floor(Math.random() * (isRare ? 4 : 20)))
    if (isRandom) void delay(20 + Math.random() * 200).then(() => server.kill())
    const load = this.#audience.load(server, { sizes: isRandom ? 'mostly small' : 'one', isToDie: true })
    await this.#server.gone(load, reachedWithin)
  }

  async #checkOrder(): Promise<void> {
    await this.#audience.checkOrder(this.#server.dataDir)
  }
}
