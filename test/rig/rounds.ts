import { setTimeout as delay } from 'node:timers/promises'
import { versionNames } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Ledger } from './ledger.ts'
import { MagicWriters } from './magic/writers.ts'
import { deadline, type Participant } from './participant.ts'
import { Service, type ServiceSetup } from './server.ts'
import { Testators } from './testators.ts'
import { Views } from './views.ts'
import { Watchers } from './watchers.ts'
import { Writers, type WritersSetup } from './writers.ts'

/** How long the load goes on before and after what happens in a round, milliseconds: at nodes, and at one server. */
const margins = { nodes: { before: 1_500, after: 2_000 }, alone: { before: 100, after: 0 } } as const

/** What happens to a service under load. */
export interface Fault {
  readonly name: string
  /** What may be answered beside acks, of what `happen` has not taken. Default: anything. */
  readonly expected?: RegExp
  /** Before anybody begins. */
  prepare?(rounds: Rounds): void
  /** Resolves when it is over. @returns what is wrong with what was seen meanwhile, and notes */
  happen(rounds: Rounds): Promise<Seen>
}

export interface Seen {
  /** In words. */
  readonly violations: readonly string[]
  /** What came later than is promised, in words: on a machine that has other things to do it means nothing. */
  readonly overdue: readonly string[]
  readonly notes: readonly string[]
  /** What shows that it did happen; of a fault that may fail to: undefined if it did. */
  readonly proof?: string | undefined
  /** How often a process was killed. */
  readonly kills?: number
}

export interface Round extends Seen {
  readonly acks: number
}

/** What clients see of a server that does not get from its store in time what it needs. */
export const late = /(CONNACK (3|136)|503 store_timeout)$/

export const nothingSeen: Seen = { violations: [], overdue: [], notes: [] }

export interface RoundsSetup extends ServiceSetup {
  /**
   * `heavy`: writers, as much as the service takes. `steady`: little enough for sessions that are away to miss nothing, and
   * subscribers of it. `magic`: writers of magic records. `wills`: clients with wills. `household`: the devices of a source.
   */
  readonly cast: readonly ('heavy' | 'steady' | 'magic' | 'wills' | 'household')[]
  /** Of the heavy load, over MQTT and over HTTP each. Default 6. */
  readonly writers?: number
  /** On top of those of the heavy load. */
  readonly heavy?: Partial<WritersSetup>
  /** For what was stored to be received and applied, milliseconds. */
  readonly deadline?: number
}

/** Rounds of load, fault and check on one service. */
export class Rounds {
  readonly service: Service
  readonly writers: readonly Writers[]
  readonly watchers: Watchers | undefined
  readonly testators: Testators | undefined
  readonly magic: MagicWriters | undefined
  readonly #participants: readonly Participant[]
  readonly #reported = new Set<string>()
  #number = 0

  private constructor(service: Service, setup: RoundsSetup) {
    const { cast, writers = 6, deadline: patience = deadline } = setup
    const { isAlone } = service
    this.service = service
    const has = (who: RoundsSetup['cast'][number]) => cast.includes(who)
    const heavy = new Writers(service, {
      ...{ name: 'heavy load', things: 3, devices: writers, connections: writers },
      ...{ rest: isAlone ? 5 : 0, sizes: 'mostly small' },
      ...setup.heavy,
    })
    const steady = new Writers(service, {
      ...{ name: 'steady load', things: 2, devices: 8, connections: 4, rest: isAlone ? 100 : 250 },
      ...{ sizes: 'one', kinds: ['with datetimes', 'with an id'], hasFleeting: isAlone },
    })
    const household = new Writers(service, {
      ...{ name: 'household', things: 0, devices: 20, connections: 0, rest: isAlone ? 5 : 20 },
      ...{ sizes: 'one', isHousehold: true },
    })
    this.writers = [
      ...(has('heavy') ? [heavy] : []),
      ...(has('household') ? [household] : []),
      ...(has('steady') ? [steady] : []),
    ]
    this.watchers = has('steady') ? new Watchers(service, steady, patience) : undefined
    this.testators = has('wills') ? new Testators(service) : undefined
    this.magic = has('magic') ? new MagicWriters(service, patience) : undefined
    // Who watches begins behind who writes, and writes once more before what was written is looked at.
    const all = [
      ...[has('heavy') ? heavy : undefined, has('household') ? household : undefined],
      ...[this.magic, this.testators, has('steady') ? steady : undefined],
      ...[this.watchers, isAlone ? undefined : new Views(service, this.writers)],
    ]
    this.#participants = all.filter(each => each !== undefined)
  }

  /** Whoever starts them ends them. */
  static async start(setup: RoundsSetup): Promise<Rounds> {
    const isCounting = setup.cast.includes('magic')
    return new Rounds(await Service.start({ ...setup, isCounting }), setup)
  }

  get ledgers(): readonly Ledger[] {
    return [...this.writers.map(({ ledger }) => ledger), ...(this.magic?.ledgers ?? [])]
  }

  get acks(): number {
    return this.acksOver()
  }

  /** @param door HTTP, or a version of MQTT; default: all */
  acksOver(door?: string): number {
    return this.ledgers.reduce((sum, ledger) => sum + ledger.acks(door), 0)
  }

  /** In words. @param since what `acksOver` gave of each version before */
  acksOverMqtt(since: readonly number[] = []): string {
    const counts = Object.values(versionNames).map((door, place) => {
      return `${this.acksOver(door) - (since[place] ?? 0)} over ${door}`
    })
    return `${counts.join(' and ')} of them`
  }

  /** What was answered otherwise than with an ack since the last call, and how often. */
  takeAnswers(): Readonly<Record<string, number>> {
    const all: Record<string, number> = {}
    for (const [answer, count] of this.writers.flatMap(writers => Object.entries(writers.takeAnswers())))
      all[answer] = (all[answer] ?? 0) + count
    return all
  }

  /** Each thing that is wrong is reported once. */
  async run(fault: Fault): Promise<Round> {
    const acked = this.acks
    const ackedOverMqtt = Object.values(versionNames).map(door => this.acksOver(door))
    const round = ++this.#number
    const { before, after } = this.service.isAlone ? margins.alone : margins.nodes
    fault.prepare?.(this)
    for (const participant of this.#participants) await participant.begin?.(round)
    for (const participant of this.#participants) participant.start?.()
    await delay(before + (Math.random() * before) / 3)
    const { violations, overdue, notes, ...seen } = await fault.happen(this)
    await delay(after)
    await Promise.all(this.#participants.map(participant => participant.stop?.()))
    const found = [...violations]
    for (const participant of this.#participants) {
      found.push(...(await participant.check()).map(text => `${participant.name}: ${text}`))
    }
    const answers = this.takeAnswers()
    const unexpected = Object.keys(answers).filter(answer => fault.expected?.test(answer) === false)
    const { overdue: wills = [], notes: ofWills = [] } = this.testators ?? {}
    return {
      ...seen,
      acks: this.acks - acked,
      violations: [...this.#firstOf(found), ...unexpected.filter(answer => !late.test(answer))],
      overdue: [...overdue, ...wills, ...unexpected.filter(answer => late.test(answer))],
      notes: [
        ...(this.acks > 0 ? [this.acksOverMqtt(ackedOverMqtt)] : []),
        ...notes,
        ...ofWills,
        ...describe(answers),
      ],
    }
  }

  /** What is wrong with the data directory of the one server, which has ended. */
  inspect(): Promise<string[]> {
    return this.#ask(participant => participant.inspect?.(this.service.dataDir))
  }

  /** What is wrong at a server that was started anew, before any client knows of it. */
  look(server: ServerProcess): Promise<string[]> {
    return this.#ask(participant => participant.look?.(server))
  }

  /** Starts the one server again, which has ended; clients come back when it was looked at. */
  async startAgain(): Promise<readonly string[]> {
    const found = await this.inspect()
    const server = await this.service.launch()
    found.push(...(await this.look(server)))
    this.service.admit(server)
    return found
  }

  /** What is wrong behind the last round; ends the clients, and the one server. */
  async finish(): Promise<readonly string[]> {
    const found = await this.#ask(participant => participant.last?.())
    for (const participant of this.#participants) await participant.end?.()
    if (this.service.isAlone) {
      await this.service.stop(this.service.member(0))
      found.push(...(await this.inspect()))
    }
    return this.#firstOf(found)
  }

  async end(): Promise<void> {
    for (const participant of this.#participants) await participant.end?.()
    await this.service.end()
  }

  async #ask(question: (participant: Participant) => Promise<readonly string[]> | undefined) {
    const found: string[] = []
    for (const participant of this.#participants) {
      found.push(...((await question(participant)) ?? []).map(text => `${participant.name}: ${text}`))
    }
    return found
  }

  #firstOf(found: readonly string[]): readonly string[] {
    const first = new Set(found.filter(text => !this.#reported.has(text)))
    for (const text of first) this.#reported.add(text)
    return [...first]
  }
}

/** Such as `2 times 503 store_timeout`. */
export function describe(answers: Readonly<Record<string, number>>): string[] {
  return Object.entries(answers).map(([answer, count]) => `${count} times ${answer}`)
}
