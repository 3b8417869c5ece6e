import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createThing, type Thing } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { CountWatcher } from './count-watcher.ts'
import { KilledServer } from './killed-server.ts'
import { Ledger } from './ledger.ts'
import { type LeftWrite, leftToApply } from './left-to-apply.ts'
import { checkHistory, checkStates } from './magic-check.ts'
import { MagicLoad } from './magic-load.ts'
import { MagicModel } from './magic-model.ts'

/** Where a process is killed that has magic records to apply. */
export const magicKillPoints = [
  'random moment',
  'magic write committed, not told',
  'magic write taken, not applied',
  'state not committed',
  'during the commit of a state',
  'state committed, not told',
  'some time after the commit of a state has failed',
  'state removed',
  'between two queued writes',
  'between two parts of a write',
  'in replays',
] as const
/** `in replays`: a process is killed that has taken some and applied none, and so are those after it, each here. */
const replayPoints = [
  'state not committed',
  'during the commit of a state',
  'state not committed',
  'during the commit of a state',
  'state committed, not told',
] as const

export type MagicKillPoint = (typeof magicKillPoints)[number]

/** What a broken server does, see magic-points.ts; it is killed, too. */
export const magicKillDefects = [
  'forgotten marks',
  'forgotten magic writes',
  'forgotten announcements',
] as const

export interface MagicKill {
  readonly point: MagicKillPoint | (typeof magicKillDefects)[number]
  /** What shows that the point was reached; undefined if it was not. */
  readonly proof: string | undefined
  /** Times that a process was killed. */
  readonly kills: number
  /** In this round. */
  readonly acks: number
  /** Acked writes of which it is known that they were not applied when the process died. */
  readonly waiting: number
  /** In words. */
  readonly violations: readonly string[]
}

const host = fileURLToPath(new URL('counting-host.ts', import.meta.url))
const rarePoints: readonly string[] = ['between two parts of a write', 'state removed']
/** In which a point is to be reached, milliseconds. */
const reachedWithin = 30_000

/** Rounds of load, kill and check on one data directory, by a host with a magic resource that counts. */
export class MagicRun {
  readonly #host: KilledServer
  readonly #deadline: number
  readonly #ledger = new Ledger()
  #things: readonly Thing[] = []
  #models: readonly MagicModel[] = []
  #watchers: readonly CountWatcher[] = []
  #load: MagicLoad | undefined
  #round = 0

  /**
   * @param dataDir empty or missing
   * @param deadline for what was acked to be applied, milliseconds
   */
  constructor(dataDir: string, deadline = 30_000) {
    this.#host = new KilledServer(dataDir, host)
    this.#deadline = deadline
  }

  /** Acked so far. */
  get acks(): number {
    return this.#ledger.acks()
  }

  async kill(point: MagicKill['point']): Promise<MagicKill> {
    const acked = this.acks
    const { server, load } = await this.#begin()
    const isInReplays = point === 'in replays'
    const first = isInReplays ? 'magic write taken, not applied' : point
    load.begin(`m${++this.#round}`, point === 'between two parts of a write')
    await this.#host.order(server, first, Math.floor(Math.random() * (rarePoints.includes(point) ? 3 : 40)))
    if (point === 'random moment') void delay(20 + Math.random() * 300).then(() => server.kill())
    await this.#host.gone(load.run(server), reachedWithin)
    const replays = isInReplays ? await this.#killReplaying() : []
    const left = await leftToApply(this.#host.dataDir)
    const ackedNames = new Set(this.#ledger.withOutcome('acked', 'completed').map(({ name }) => name))
    const waiting = left.filter(({ name }) => name !== undefined && ackedNames.has(name)).length
    const proof = isInReplays ? replays.join('; ') || undefined : await this.#proofOf(point, left, waiting)
    const violations = await this.#settle()
    return { point, proof, kills: 1 + replays.length, acks: this.acks - acked, waiting, violations }
  }

  /** What is wrong with the history of everything that was ever written, in words. To be called last. */
  async finish(): Promise<readonly string[]> {
    const { server, load } = await this.#begin()
    const wrong = await Promise.all(
      this.#things.map((thing, place) => checkHistory(server, thing, this.#modelOf(place))),
    )
    await load.end()
    await this.#host.stop()
    return wrong.flat()
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    await this.#host.abandon()
  }

  async #begin(): Promise<{ server: ServerProcess; load: MagicLoad }> {
    const server = await this.#host.start()
    if (this.#load) return { server, load: this.#load }
    this.#things = await Promise.all(Array.from({ length: MagicLoad.things }, () => createThing(server)))
    this.#models = this.#things.map(() => new MagicModel())
    this.#watchers = this.#things.map(thing => new CountWatcher(thing))
    this.#load = new MagicLoad(this.#things, this.#ledger)
    await this.#connect(server, this.#load)
    return { server, load: this.#load }
  }

  /** @returns the proof of each */
  async #killReplaying(): Promise<string[]> {
    const proofs: string[] = []
    for (const point of replayPoints) {
      if ((await leftToApply(this.#host.dataDir)).length === 0) break
      await this.#host.startAndDie(point, 0)
      const proof = await this.#host.proof()
      if (proof !== undefined) proofs.push(proof)
    }
    return proofs
  }

  async #connect({ mqttUrl }: ServerProcess, load: MagicLoad): Promise<void> {
    await Promise.all([load.connect(mqttUrl), ...this.#watchers.map(watcher => watcher.connect(mqttUrl))])
  }

  /** Sends again what was not acked, waits until all is applied, and looks. */
  async #settle(): Promise<string[]> {
    const { server, load } = await this.#begin()
    await this.#connect(server, load)
    const violations = await load.settle(server)
    for (const write of load.takeSent()) this.#modelOf(write.thing).apply(write)
    const isTold = await Promise.all(
      this.#watchers.map((watcher, place) => watcher.until(this.#modelOf(place).changes, this.#deadline)),
    )
    const untold = isTold.flatMap((told, place) => (told ? [] : [`thing ${place}: too little is told`]))
    const wrong = this.#things.map((thing, place) => checkStates(server, thing, this.#modelOf(place)))
    const told = this.#watchers.flatMap(watcher => watcher.violations)
    return [...violations, ...untold, ...(await Promise.all(wrong)).flat(), ...told]
  }

  #modelOf(place: number): MagicModel {
    const model = this.#models[place]
    if (!model) throw new Error(`there is no thing ${place}`)
    return model
  }

  async #proofOf(point: string, left: readonly LeftWrite[], waiting: number): Promise<string | undefined> {
    if (point === 'random moment') return 'killed from outside'
    const proof = await this.#host.proof()
    if (proof === undefined) return undefined
    const things = new Set(left.map(({ thingId }) => thingId))
    const isOfProof = [...proof.matchAll(/"([a-z2-7]{16})"/g)].some(([, thingId = '']) => things.has(thingId))
    const isSeen: Record<string, boolean> = {
      'magic write committed, not told': left.some(({ writeNumber }) =>
        proof.includes(`"writeNumber":${writeNumber}}`),
      ),
      'magic write taken, not applied': waiting > 0,
      'state not committed': isOfProof,
      'between two queued writes': isOfProof,
      'between two parts of a write': isOfProof,
    }
    return isSeen[point] === false ? undefined : proof
  }
}
