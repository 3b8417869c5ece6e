import { openClient } from '../../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import { createThing } from '../../helpers/http-client.ts'
import { type Version, versionOf } from '../../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { within } from '../../helpers/waiting.ts'
import { seconds, untilDone } from '../../rig/participant.ts'
import type { Report } from '../../rig/program.ts'
import { Service } from '../../rig/server.ts'
import { kinds } from './clients.ts'
import {
  type PauseClient,
  PausedRound,
  type Place,
  planOf,
  type RoundPlan,
  type Steps,
} from './pause-client.ts'
import { LiveValues } from './views.ts'

const keys = redisKeys('thingwire')
/** The task whose leader is paused. */
const task = 'magic'

/** Milliseconds: shorter than some pauses, and longer than a write takes on a machine that has other things to do. */
const storeTimeout = 15_000

/** For any step of a client, milliseconds: the longest pause is part of some. */
const longestStep = 100_000

/** Rounds on one service of two nodes: the one that leads the magic resources is paused, and the clients go to the other. */
export class PausedRounds {
  readonly #service: Service
  #ran = 0

  private constructor(service: Service) {
    this.#service = service
  }

  /** Whoever starts them ends them. @param clocks by how much that of each node is ahead, seconds */
  static async start(clocks: readonly [number, number]): Promise<PausedRounds> {
    const environment = { THINGWIRE_STORE_TIMEOUT: String(storeTimeout) }
    return new PausedRounds(await Service.start({ clocks, environment }))
  }

  /** @returns what is wrong, in words */
  async run(plan: RoundPlan): Promise<readonly string[]> {
    const pausing = await this.#leader()
    const other = this.#service.members.map(({ server }) => server).find(server => server !== pausing)
    if (!other) throw new Error('there is one node only')
    const round = new PausedRound(plan, { pausing, other })
    // In the next round each kind has the other version.
    const turn = this.#ran++
    const all = await Promise.all(kinds.map((make, place) => begun(make, round, versionOf(place + turn))))
    const wrong = new Map<PauseClient, readonly string[]>()
    const step = (name: string) =>
      Promise.all(
        all.map(async ({ client, steps }) => {
          if (wrong.has(client)) return
          try {
            const { value } = await within(steps.next(), 'its end', longestStep)
            if (value) wrong.set(client, value)
          } catch (error) {
            wrong.set(client, [`it failed to ${name}: ${(error as Error).message}`])
          }
        }),
      )
    try {
      await round.stop(() => void step('have a packet under way'))
      await step('send while its node is paused')
      const moving = round.wait(plan.moveAfter).then(() => step('move'))
      await round.wait(plan.pause)
      round.resume()
      await moving
      await step('go on')
    } finally {
      pausing.process.kill('SIGCONT')
      await Promise.all(all.map(({ client }) => client.end()))
    }
    return all.flatMap(({ client }) => (wrong.get(client) ?? []).map(text => `${client.name}: ${text}`))
  }

  async end(): Promise<void> {
    await this.#service.end()
  }

  async #leader(): Promise<ServerProcess> {
    const client = await openClient(this.#service.redis.url)
    try {
      let leader: ServerProcess | undefined
      await untilDone(async () => {
        const [node] = ((await client.hget(keys.locks, `task/${task}`)) ?? '').split(':')
        for (const { server } of this.#service.members) {
          const [, name] = await server.logged(/"the other nodes know this node as (\S+)"/)
          if (name === node) leader = server
        }
        if (!leader) throw new Error(`no node leads ${task}`)
      })
      if (!leader) throw new Error('unreachable')
      return leader
    } finally {
      client.disconnect()
    }
  }
}

/** A client that has begun; before the pause a node may be too slow for one, on a machine that has other things to do. */
async function begun(make: (place: Place) => PauseClient, round: PausedRound, version: Version) {
  let found: { client: PauseClient; steps: Steps } | undefined
  await untilDone(async () => {
    const thing = await createThing(round.other)
    const client = make({ round, version, thing, live: await LiveValues.at(round.other, thing, version) })
    const steps = client.steps()
    try {
      await within(steps.next(), 'its end', longestStep)
      found = { client, steps }
    } catch (error) {
      await client.end()
      throw error
    }
  })
  if (!found) throw new Error('unreachable')
  return found
}

/** Of the nodes of each service, by how much they are ahead, seconds. */
const clocks = [
  [0, 10],
  [5, -5],
  [-10, 0],
  [-2, 7],
] as const

/** So many rounds, on services side by side: they wait most of the time. */
export async function runPaused(count: number, report: Report): Promise<void> {
  let next = 0
  const broken = new Map<string, number>()
  const serve = async (ahead: readonly [number, number]) => {
    const rounds = await PausedRounds.start(ahead)
    try {
      while (next < count) {
        const number = next++
        const plan = planOf(number)
        const began = performance.now()
        const violations = await rounds.run(plan).catch((error: Error) => [`round: ${error.message}`])
        const what = [
          `a node is paused for ${seconds(plan.pause)}`,
          `round ${number + 1} of ${count}`,
          `the old connection ${plan.oldConnection}`,
          ...(plan.moveAfter > 0 ? [`clients move after ${seconds(plan.moveAfter)}`] : []),
          `clocks at ${ahead.join(' and ')} s`,
          seconds(performance.now() - began),
        ]
        report.list(what.join(', '), violations)
        for (const kind of new Set(violations.map(text => text.slice(0, text.indexOf(':'))))) {
          broken.set(kind, (broken.get(kind) ?? 0) + 1)
        }
      }
    } finally {
      await rounds.end()
    }
  }
  await Promise.all(clocks.slice(0, count).map(serve))
  for (const [kind, times] of broken) console.log(`${kind}: broken in ${times} of ${count} rounds`)
}
