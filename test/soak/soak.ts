import { startNodes } from '../helpers/cluster.ts'
import { createThing } from '../helpers/http-client.ts'
import { type Exit, type ServerProcess, type ServerSetup, startServer } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import { withDirectory } from '../helpers/with-server.ts'
import { Cast, type CastSetup, habitsOf } from './cast.ts'
import { checkRetained, type RetainedResult } from './checks.ts'
import { Ledger, pick } from './plan.ts'
import { getStuck, type StuckResult } from './stuck-reader.ts'
import {
  JoiningSubscriber,
  type LiveSubscriber,
  ReturningSession,
  type Subscriber,
  subscribeLive,
} from './subscribers.ts'
import { type LoadResult, runLoad } from './writers.ts'

/**
 * Runs the task on so many nodes on a Redis of their own, or, for 0, on one server with its embedded store, and stops them.
 *
 * @param setup of that one
 * @returns also how they ended
 */
export function withServers<Result>(
  count: number,
  task: (nodes: readonly ServerProcess[]) => Promise<Result>,
  setup: ServerSetup = {},
): Promise<{ readonly result: Result; readonly exits: readonly Exit[] }> {
  return withDirectory(async dataDir => {
    const running = count > 0 ? await startNodes(count) : undefined
    const nodes = running?.nodes ?? [await startServer({ ...setup, dataDir })]
    try {
      const result = await task(nodes)
      return { result, exits: await Promise.all(nodes.map(node => node.stop())) }
    } finally {
      await Promise.all(nodes.map(node => node.kill()))
      await running?.end()
    }
  })
}

export interface SoakSetup extends CastSetup {
  /** At least 10. */
  readonly things: number
  readonly records: number
  /** Records a second. */
  readonly rate: number
  /** Whether subscribers get stuck, one of each kind at a time. */
  readonly hasStuck: boolean
  /** Milliseconds without a message after which nothing more is expected. */
  readonly patience: number
}

export interface SoakResult {
  readonly load: LoadResult
  readonly live: readonly LiveSubscriber[]
  readonly slow: readonly LiveSubscriber[]
  readonly sessions: readonly ReturningSession[]
  readonly joining: readonly JoiningSubscriber[]
  readonly stuck: readonly StuckResult[]
  /** At each node, in each version. */
  readonly retained: readonly RetainedResult[]
}

/** Share of the records after which nobody else gets stuck: the rest would not fill a socket. */
const lastStuck = 0.5

/** Writes to all things through both doors while every kind of subscriber is there. */
export async function runSoak(setup: SoakSetup): Promise<SoakResult> {
  const { nodes, records, rate } = setup
  const made = []
  for (let place = 0; place < setup.things; place++) made.push(await createThing(pick(nodes)))
  const ledger = new Ledger(made)
  const cast = new Cast(setup, ledger)
  const live = await Promise.all(cast.live().map(subscribeLive))
  const slow = await Promise.all(cast.slow().map(subscribeLive))
  const sessions = await Promise.all(cast.sessions().map(session => new ReturningSession(session).start()))
  const joining = cast.joining().map(subscriber => new JoiningSubscriber(subscriber))
  let share = 0
  // Before the load, of which too little would be left for them on a busy machine.
  const first = setup.hasStuck ? await allStuck(cast, 1) : undefined
  const stuck = first ? againAndAgain(first, cast, () => share < lastStuck) : Promise.resolve([])
  // Thrown where it is awaited, in the end.
  stuck.catch(() => {})
  const load = await runLoad({
    ...{ nodes, ledger, records, rate },
    habits: place => habitsOf(place, setup),
    onProgress: sent => {
      share = sent / records
    },
  })
  await Promise.all(joining.map(subscriber => subscriber.leave()))
  await Promise.all(sessions.map(session => session.settle()))
  const stuckResults = await stuck
  const all = [...live, ...slow, ...sessions]
  await untilComplete(all, setup.patience)
  const views = nodes.flatMap(node =>
    ([4, 5] as const).map(version => checkRetained(ledger, node, nodes, version)),
  )
  const retained = await Promise.all(views)
  for (const subscriber of all) await subscriber.finish()
  return { load, live, slow, sessions, joining, stuck: stuckResults, retained }
}

type AllStuck = Awaited<ReturnType<typeof allStuck>>

/** One of each kind at each node. */
function allStuck(cast: Cast, round: number) {
  return Promise.all(cast.stuck(round).map(getStuck))
}

async function againAndAgain(first: AllStuck, cast: Cast, goesOn: () => boolean): Promise<StuckResult[]> {
  const results: StuckResult[] = []
  let stuck = first
  for (let round = 2; ; round++) {
    results.push(...(await Promise.all(stuck.map(({ gone }) => gone))))
    if (!goesOn()) return results
    stuck = await allStuck(cast, round)
  }
}

async function untilComplete(subscribers: readonly Subscriber[], patience: number): Promise<void> {
  const missing = () => subscribers.reduce((sum, subscriber) => sum + subscriber.countMissing(), 0)
  for (let before = missing(); before > 0; before = missing()) {
    if (!(await eventually(() => missing() < before, patience))) return
  }
}
