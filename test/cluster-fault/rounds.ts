import { setTimeout as delay } from 'node:timers/promises'
import { MagicWriters } from './magic-writers.ts'
import type { Participant } from './participant.ts'
import { Service } from './service.ts'
import { Watchers } from './subscribers.ts'
import { Testators } from './testators.ts'
import { Views } from './views.ts'
import { Writers } from './writers.ts'

/** How long the load goes on before and after what happens in a round, milliseconds. */
const before = 1_500
const after = 2_000

/** What happens to a service under load. */
export interface Fault {
  readonly name: string
  /** Resolves when it is over. @returns what is wrong with what was seen meanwhile, and notes */
  happen(rounds: Rounds): Promise<Seen>
}

export interface Seen {
  /** In words. */
  readonly violations: readonly string[]
  /** What came later than is promised, in words: on a machine that has other things to do it means nothing. */
  readonly overdue: readonly string[]
  readonly notes: readonly string[]
}

export interface Round extends Seen {
  readonly acks: number
}

export interface RoundsSetup {
  /** Clients that write as much as the service takes, over MQTT and over HTTP each. */
  readonly writers: number
  /** Whether there is a load balancer (`Service`); nobody writes magic records then. */
  readonly isBalanced: boolean
}

/** Rounds of load, fault and check on one service of two nodes. */
export class Rounds {
  readonly service: Service
  /** As much as the service takes. */
  readonly heavy: Writers
  /** Little enough for sessions that are away to miss nothing. */
  readonly steady: Writers
  readonly watchers: Watchers
  readonly testators: Testators
  readonly magic: MagicWriters | undefined
  readonly #participants: readonly Participant[]
  readonly #reported = new Set<string>()
  #number = 0

  private constructor(service: Service, { writers, isBalanced }: RoundsSetup) {
    this.service = service
    this.heavy = new Writers({
      ...{ service, name: 'heavy load', things: 3, devices: writers, connections: writers },
      ...{ rest: 0, sizes: 'mostly small', isUnique: false },
    })
    this.steady = new Writers({
      ...{ service, name: 'steady load', things: 2, devices: 8, connections: 4 },
      ...{ rest: 250, sizes: 'one', isUnique: true },
    })
    this.watchers = new Watchers(service, this.steady)
    this.testators = new Testators(service)
    this.magic = isBalanced ? undefined : new MagicWriters(service)
    // Who watches begins behind who writes, and writes once more before what was written is looked at.
    this.#participants = [
      this.heavy,
      ...(this.magic ? [this.magic] : []),
      this.testators,
      this.steady,
      this.watchers,
      new Views(service, [this.heavy, this.steady]),
    ]
  }

  /** Whoever starts them ends them. */
  static async start(setup: RoundsSetup): Promise<Rounds> {
    return new Rounds(await Service.start(2, setup), setup)
  }

  get acks(): number {
    const ledgers = [this.heavy.ledger, this.steady.ledger, ...(this.magic?.ledgers ?? [])]
    return ledgers.reduce((sum, ledger) => sum + ledger.acks(), 0)
  }

  /** Each fault is reported once. */
  async run(fault: Fault): Promise<Round> {
    const acked = this.acks
    const round = ++this.#number
    for (const participant of this.#participants) await participant.begin?.(round)
    for (const participant of this.#participants) participant.start?.()
    await delay(before + Math.random() * 500)
    const { violations, overdue, notes } = await fault.happen(this)
    await delay(after)
    await Promise.all(this.#participants.map(participant => participant.stop?.()))
    const found = [...violations]
    for (const participant of this.#participants) {
      found.push(...(await participant.check()).map(text => `${participant.name}: ${text}`))
    }
    const wrong = found.filter(text => !this.#reported.has(text))
    for (const text of wrong) this.#reported.add(text)
    const answers = [this.heavy, this.steady].flatMap(writers => writers.takeAnswers())
    return {
      acks: this.acks - acked,
      violations: wrong,
      overdue: [...overdue, ...this.testators.overdue],
      notes: [...notes, ...this.testators.notes, ...answers],
    }
  }

  async end(): Promise<void> {
    for (const participant of this.#participants) await participant.end?.()
    await this.service.end()
  }
}
