import { CountWatcher } from '../fault/count-watcher.ts'
import { checkHistory, checkStates } from '../fault/magic-check.ts'
import { MagicLoad } from '../fault/magic-load.ts'
import { MagicModel } from '../fault/magic-model.ts'
import type { Thing } from '../helpers/http-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'
import { deadline, type Participant, untilDone, untilNothingWrong } from './participant.ts'
import type { Service } from './service.ts'
import { TimedLedger } from './writers.ts'

/** Clients that come to one node, until their way to it is cut. */
interface Group {
  readonly things: readonly Thing[]
  readonly models: readonly MagicModel[]
  readonly watchers: readonly CountWatcher[]
  readonly ledger: TimedLedger
  readonly load: MagicLoad
  /** The node through these ways. */
  server: ServerProcess | undefined
  paths: readonly TcpPath[]
  working: Promise<void>
}

/** Writers of magic records on each of two nodes: every record is applied once, in the order of its writer, and delivered. */
export class MagicWriters implements Participant {
  readonly name = 'magic'
  readonly #service: Service
  #groups: readonly Group[] = []

  constructor(service: Service) {
    this.#service = service
  }

  get ledgers(): readonly TimedLedger[] {
    return this.#groups.map(({ ledger }) => ledger)
  }

  async begin(round: number): Promise<void> {
    if (this.#groups.length === 0)
      this.#groups = await Promise.all([this.#createGroup(), this.#createGroup()])
    for (const [place, group] of this.#groups.entries()) {
      group.load.begin(`${'ab'[place]}${round}`, false)
      const node = this.#service.node(place)
      const http = await openPath(portOf(node.url))
      const mqtt = await openPath(portOf(node.mqttUrl))
      group.paths = [http, mqtt]
      const server = {
        ...node,
        url: `http://127.0.0.1:${http.port}`,
        mqttUrl: `mqtt://127.0.0.1:${mqtt.port}`,
      }
      group.server = server
      await untilDone(() => comeTo(server, group))
    }
  }

  start(): void {
    for (const group of this.#groups) {
      if (group.server) group.working = group.load.run(group.server)
      group.working.catch(() => {})
    }
  }

  async stop(): Promise<void> {
    for (const { paths, load } of this.#groups) {
      load.halt()
      for (const path of paths) path.refuse()
    }
    await Promise.all(this.#groups.map(({ working }) => working))
    await Promise.all(this.#groups.flatMap(({ paths }) => paths.map(path => path.close())))
  }

  /** Sends again what was not acknowledged, waits until all is applied, and looks. */
  async check(): Promise<readonly string[]> {
    const found = this.#groups.map(async (group, place) => {
      const { things, watchers, load } = group
      const node = this.#service.node(place)
      await untilDone(() => comeTo(node, group))
      const violations = await load.settle(node)
      for (const write of load.takeSent()) modelOf(group, write.thing).apply(write)
      const delivered = watchers.map(async (watcher, thing) => {
        const isComplete = await watcher.until(modelOf(group, thing).changes, deadline)
        return isComplete
          ? []
          : [`$count of thing ${thing} at node ${place}: too little, or too much, is delivered`]
      })
      const undelivered = (await Promise.all(delivered)).flat()
      const wrong = things.flatMap((thing, index) =>
        this.#service.members.map(({ server }) =>
          untilNothingWrong(() => checkStates(server, thing, modelOf(group, index))),
        ),
      )
      const history = things.map((thing, index) =>
        checkHistory(node, thing, modelOf(group, index)).catch((error: Error) => [error.message]),
      )
      const disorder = watchers.flatMap(watcher => watcher.violations)
      return [
        ...violations,
        ...undelivered,
        ...(await Promise.all([...wrong, ...history])).flat(),
        ...disorder,
      ]
    })
    return (await Promise.all(found)).flat()
  }

  async end(): Promise<void> {
    for (const group of this.#groups) await leave(group)
  }

  async #createGroup(): Promise<Group> {
    const things = await this.#service.createThings(MagicLoad.things)
    const ledger = new TimedLedger()
    const watchers = things.map(thing => new CountWatcher(thing))
    return {
      things,
      ledger,
      models: things.map(() => new MagicModel()),
      watchers,
      load: new MagicLoad(things, ledger, thing => watchers[thing]?.seen ?? 0),
      server: undefined,
      paths: [],
      working: Promise.resolve(),
    }
  }
}

async function comeTo({ mqttUrl }: ServerProcess, group: Group): Promise<void> {
  await leave(group)
  await group.load.connect(mqttUrl)
  await Promise.all(group.watchers.map(watcher => watcher.connect(mqttUrl)))
}

async function leave({ load, watchers }: Group): Promise<void> {
  await Promise.all([load.end(), ...watchers.map(watcher => watcher.leave())])
}

function modelOf({ models }: Group, place: number): MagicModel {
  const model = models[place]
  if (!model) throw new Error(`there is no thing ${place}`)
  return model
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
