import { setTimeout as delay } from 'node:timers/promises'
import { write } from '../../helpers/http-client.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { type ForwardedThing, TwoServers } from '../two-servers.ts'

/** What befalls the two servers while the one forwards to the other. */
export const faults = [
  'the server that forwards is killed',
  'the central server is killed',
  'both are killed',
  'the link is cut',
  'the link delivers late what was sent before a kill',
  'the central store is full',
] as const
export type Fault = (typeof faults)[number]

interface RoundsSetup {
  readonly directory: string
  readonly things: number
  /** Told after each round. */
  readonly onRound?: (round: number, fault: Fault, records: number) => void
}

/** What was broken; empty: every record is at the central server once, in its order. */
export type Violations = readonly string[]

/** Writes to a server that forwards without a rest, while one fault comes behind the other. */
export class ForwardRounds {
  readonly #servers: TwoServers
  readonly #setup: RoundsSetup
  readonly #written = new Map<ForwardedThing, number>()
  #isOver = false

  private constructor(servers: TwoServers, setup: RoundsSetup) {
    this.#servers = servers
    this.#setup = setup
  }

  static async open(setup: RoundsSetup): Promise<ForwardRounds> {
    const servers = await TwoServers.open(setup.directory, setup.things)
    await servers.startEdge()
    return new ForwardRounds(servers, setup)
  }

  /** @returns violations, when everything is forwarded */
  async run(rounds: number): Promise<Violations> {
    const { things } = this.#servers
    const writing = things.map(thing => this.#write(thing))
    for (let round = 0; round < rounds; round++) {
      const fault = faults[round % faults.length] ?? faults[0]
      await delay(Math.random() * 400)
      await this.#inflict(fault)
      const records = [...this.#written.values()].reduce((sum, count) => sum + count, 0)
      this.#setup.onRound?.(round + 1, fault, records)
    }
    this.#isOver = true
    await Promise.all(writing)
    await this.#servers.untilForwarded(300_000)
    return (await Promise.all(things.map(thing => this.#check(thing)))).flat()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#servers.end()
  }

  async #inflict(fault: Fault): Promise<void> {
    const servers = this.#servers
    const pause = () => delay(Math.random() * 300)
    switch (fault) {
      case 'the server that forwards is killed':
        await servers.edge.kill()
        await servers.startEdge()
        break
      case 'the central server is killed':
        await servers.central.kill()
        await pause()
        await servers.startCentral()
        break
      case 'both are killed':
        await Promise.all([servers.edge.kill(), servers.central.kill()])
        await Promise.all([servers.startEdge(), servers.startCentral()])
        break
      case 'the link is cut':
        servers.path.refuse()
        await pause()
        servers.path.restore()
        break
      case 'the link delivers late what was sent before a kill': {
        const deliver = servers.path.hold()
        await pause()
        await servers.edge.kill()
        servers.path.restore()
        const starting = servers.startEdge()
        await pause()
        await Promise.all([deliver(), starting])
        break
      }
      case 'the central store is full':
        await servers.central.kill()
        await servers.startCentral({ THINGWIRE_MIN_FREE_SPACE: `${Number.MAX_SAFE_INTEGER}` })
        await pause()
        await servers.central.kill()
        await servers.startCentral()
        break
    }
  }

  /** One write after another, each until it is acknowledged. */
  async #write(thing: ForwardedThing): Promise<void> {
    for (let count = 1; !this.#isOver; count++) {
      const body = { ...bodyOf(count), id: `write ${count}` }
      while (!(await isTaken(this.#servers.edge, thing, body))) await delay(50)
      this.#written.set(thing, count)
    }
  }

  async #check(thing: ForwardedThing): Promise<Violations> {
    const { edge, central } = await this.#servers.records(thing)
    const written = this.#written.get(thing) ?? 0
    const counts = edge.filter(({ key }) => key === 'n').map(({ value }) => value)
    const { thingId } = thing.here
    const violations: string[] = []
    if (counts.length !== written) violations.push(`${thingId}: ${written} written, ${counts.length} stored`)
    if (central.length !== edge.length)
      violations.push(
        `${thingId}: ${edge.length} records are stored, ${central.length} at the central server`,
      )
    const differs = edge.findIndex(
      (record, place) => JSON.stringify(record) !== JSON.stringify(central[place]),
    )
    if (differs !== -1) {
      const [here, there] = [edge[differs], central[differs]].map(record => JSON.stringify(record))
      violations.push(`${thingId}: at place ${differs} there is ${there} instead of ${here}`)
    }
    return violations
  }
}

/** Some with a datetime of their own, some late, some of a magic resource; each counts under `n`. */
function bodyOf(count: number): { readonly values: readonly object[] } {
  const counted = { key: 'n', value: count }
  if (count % 7 === 0) {
    const datetime = new Date(Date.UTC(2024, 0, 1) + (count % 50) * 1_000 + count).toISOString()
    return { values: [counted, { key: 'late', value: count, datetime, geo: { lat: count % 90, long: 1 } }] }
  }
  if (count % 11 === 0) return { values: [counted, { key: '$settings.name', value: `name ${count}` }] }
  if (count % 13 === 0)
    return {
      values: [counted, ...Array.from({ length: 50 }, (_, n) => ({ key: 'many', value: [count, n] }))],
    }
  return { values: [counted] }
}

async function isTaken(server: ServerProcess, { here }: ForwardedThing, body: object): Promise<boolean> {
  try {
    return (await write(server, here, body)).status === 201
  } catch {
    return false
  }
}
