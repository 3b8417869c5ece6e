import type { Thing } from '../../helpers/http-client.ts'
import { versionOf } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { Ledger } from '../ledger.ts'
import { type Participant, untilDone, untilNothingWrong } from '../participant.ts'
import type { Service } from '../server.ts'
import { LiveSession } from '../subscriber.ts'
import { checkHistory, checkStates } from './check.ts'
import { MagicLoad } from './load.ts'
import { MagicModel } from './model.ts'

/** Clients that come to one node, until it is gone or they are stopped. */
interface Group {
  readonly things: readonly Thing[]
  readonly models: readonly MagicModel[]
  /** Of `$count` of each thing. */
  readonly watchers: readonly LiveSession[]
  readonly ledger: Ledger
  readonly load: MagicLoad
  working: Promise<void>
}

/** Writers of magic records on each node: every record is applied once, in the order of its writer, and delivered. */
export class MagicWriters implements Participant {
  readonly name = 'magic'
  /** Whether some writes take several commits. */
  hasParts = false
  readonly #service: Service
  readonly #deadline: number
  #groups: readonly Group[] = []

  /** @param deadline for what was acknowledged to be applied and delivered, milliseconds */
  constructor(service: Service, deadline: number) {
    this.#service = service
    this.#deadline = deadline
  }

  get ledgers(): readonly Ledger[] {
    return this.#groups.map(({ ledger }) => ledger)
  }

  async begin(round: number): Promise<void> {
    if (this.#groups.length === 0)
      this.#groups = await Promise.all(this.#service.members.map(() => this.#createGroup()))
    for (const [place, group] of this.#groups.entries()) {
      group.load.begin(`${'ab'[place]}${round}`, this.hasParts)
      await untilDone(() => comeTo(this.#service.node(place), group))
    }
  }

  start(): void {
    for (const [place, group] of this.#groups.entries()) {
      group.working = group.load.run(this.#service.node(place))
      group.working.catch(() => {})
    }
  }

  async stop(): Promise<void> {
    for (const { load } of this.#groups) load.halt()
    await Promise.all(this.#groups.map(({ working }) => working))
  }

  /** Sends again what was not acknowledged, waits until all is applied, and looks. */
  async check(): Promise<readonly string[]> {
    const found = this.#groups.map(async (group, place) => {
      const { things, watchers, load } = group
      const node = this.#service.node(place)
      await untilDone(() => comeTo(node, group))
      const violations = await load.settle(node)
      for (const write of load.takeSent()) modelOf(group, write.thing).apply(write)
      const delivered = watchers.map(async ({ receiver }, thing) => {
        const { changes } = modelOf(group, thing)
        const values = Array.from({ length: changes }, (_, change) => String(change + 1))
        const missing = await receiver.until(values, this.#deadline)
        receiver.check({ values, writes: [] })
        return missing.length > 0 ? [`${receiver.name}: ${missing[0]} never came`] : []
      })
      const undelivered = (await Promise.all(delivered)).flat()
      // At the other node it may come later.
      const patience = this.#service.isAlone ? 0 : this.#deadline
      const wrong = things.flatMap((thing, index) =>
        this.#service.members.map(({ server }) =>
          untilNothingWrong(() => checkStates(server, thing, modelOf(group, index)), patience),
        ),
      )
      const disorder = watchers.flatMap(({ receiver }) => receiver.violations)
      return [...violations, ...undelivered, ...(await Promise.all(wrong)).flat(), ...disorder]
    })
    return (await Promise.all(found)).flat()
  }

  /** The history of everything that was ever written. */
  async last(): Promise<readonly string[]> {
    const found = this.#groups.flatMap((group, place) =>
      group.things.map((thing, index) =>
        checkHistory(this.#service.node(place), thing, modelOf(group, index)),
      ),
    )
    return (await Promise.all(found)).flat()
  }

  async end(): Promise<void> {
    for (const group of this.#groups) await leave(group)
  }

  async #createGroup(): Promise<Group> {
    const things = await this.#service.createThings(MagicLoad.things)
    const ledger = new Ledger()
    const watchers = things.map(
      (thing, place) => new LiveSession([versionOf(place)], 'staying', thing, 'values', '$count'),
    )
    const load = new MagicLoad(things, ledger, thing => watchers[thing]?.receiver.count ?? 0)
    const models = things.map(() => new MagicModel())
    return { things, ledger, models, watchers, load, working: Promise.resolve() }
  }
}

async function comeTo(server: ServerProcess, group: Group): Promise<void> {
  await leave(group)
  await group.load.connect(server.mqttUrl)
  await Promise.all(group.watchers.map(watcher => watcher.connect(server)))
}

async function leave({ load, watchers }: Group): Promise<void> {
  await Promise.all([load.end(), ...watchers.map(watcher => watcher.leave())])
}

function modelOf({ models }: Group, place: number): MagicModel {
  const model = models[place]
  if (!model) throw new Error(`there is no thing ${place}`)
  return model
}
