import { openClient } from '../../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import type { ServerProcess } from '../../helpers/server-process.ts'
import { within } from '../../helpers/waiting.ts'
import { untilDone } from '../participant.ts'
import { Service } from '../service.ts'
import { Lamp } from './lamp.ts'
import { magic } from './magic.ts'
import type { PauseClient } from './pause-client.ts'
import { PausedRound, type RoundPlan } from './paused-round.ts'
import { Publisher } from './publisher.ts'
import { Releaser } from './releaser.ts'
import { Session } from './session.ts'
import { Testator } from './testator.ts'

const keys = redisKeys('thingwire')
/** The task whose leader is paused. */
const task = 'magic'

/** Milliseconds: shorter than some pauses, and longer than a write takes on a machine that has other things to do. */
const storeTimeout = 15_000

/** For any step of a client, milliseconds: the longest pause is part of some. */
const longestStep = 100_000

const magician = { name: 'magic', qos: 2, session: 'persistent', resource: magic } as const

/** Make one of each kind. */
const kinds: readonly (() => PauseClient)[] = [
  ...([0, 1, 2] as const).flatMap(qos =>
    (['clean', 'persistent', 'anonymous'] as const).map(session => () => new Publisher({ qos, session })),
  ),
  () => new Publisher({ qos: 1, session: 'clean', isIdle: true }),
  () => new Publisher({ qos: 2, session: 'persistent', isIdle: true }),
  () => new Publisher({ qos: 1, session: 'clean', stays: true }),
  () => new Publisher({ qos: 2, session: 'persistent', stays: true }),
  () => new Publisher(magician),
  () => new Publisher({ ...magician, isIdle: true }),
  () => new Publisher({ ...magician, stays: true }),
  () => new Releaser(),
  () => new Session(),
  () => new Testator('moves', 'clean'),
  () => new Testator('moves', 'persistent'),
  () => new Testator('is lost', 'clean'),
  () => new Testator('takes leave', 'clean'),
  () => new Lamp(),
]

/** Rounds on one service of two nodes: the one that leads the magic resources is paused, and the clients go to the other. */
export class PausedRounds {
  readonly #service: Service

  private constructor(service: Service) {
    this.#service = service
  }

  /** Whoever starts them ends them. @param clocks by how much that of each node is ahead, seconds */
  static async start(clocks: readonly [number, number]): Promise<PausedRounds> {
    const environment = { THINGWIRE_STORE_TIMEOUT: String(storeTimeout) }
    return new PausedRounds(await Service.start(2, { isBalanced: false, clocks, environment }))
  }

  /** @returns what is wrong, in words */
  async run(plan: RoundPlan): Promise<readonly string[]> {
    const pausing = await this.#leader()
    const other = this.#service.members.map(({ server }) => server).find(server => server !== pausing)
    if (!other) throw new Error('there is one node only')
    const round = new PausedRound(plan, { pausing, other })
    const all = await Promise.all(kinds.map(make => begun(make, round)))
    const wrong = new Map<PauseClient, readonly string[]>()
    const each = (name: string, step: (client: PauseClient) => Promise<void> | void) =>
      Promise.all(
        all.map(async client => {
          if (wrong.has(client)) return
          try {
            await within(Promise.resolve(step(client)), 'its end', longestStep)
          } catch (error) {
            wrong.set(client, [`${name} failed: ${(error as Error).message}`])
          }
        }),
      )
    try {
      await round.stop(() => void each('sendInFlight', client => client.sendInFlight()))
      await each('sendWhilePaused', client => client.sendWhilePaused())
      const moving = round.wait(plan.moveAfter).then(() => each('move', client => client.move()))
      await round.wait(plan.pause)
      round.resume()
      await moving
      await each('check', async client => void wrong.set(client, await client.check()))
    } finally {
      pausing.process.kill('SIGCONT')
      await Promise.all(all.map(client => client.end()))
    }
    return all.flatMap(client => (wrong.get(client) ?? []).map(text => `${client.name}: ${text}`))
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
          const [, name] = await server.logged(/"this node is (\S+) to the others"/)
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
async function begun(make: () => PauseClient, round: PausedRound): Promise<PauseClient> {
  let client = make()
  await untilDone(async () => {
    try {
      await within(client.begin(round), 'its end', longestStep)
    } catch (error) {
      await client.end()
      client = make()
      throw error
    }
  })
  return client
}
