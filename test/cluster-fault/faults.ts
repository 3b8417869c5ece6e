import { setTimeout as delay } from 'node:timers/promises'
import type { Exit } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import type { Ledger } from '../rig/ledger.ts'
import { outage, promised } from '../rig/outage.ts'
import { deadline, seconds, untilDone } from '../rig/participant.ts'
import { describe, type Fault, nothingSeen, type Rounds, type Seen } from '../rig/rounds.ts'
import type { Member, Service } from '../rig/server.ts'
import { clientOf } from '../rig/writers.ts'

/** Of Redis or of a way to it, milliseconds. */
const away = 10_000
/** Long enough to need more than luck, and shorter than a killed node counts as alive, milliseconds. */
const alone = 1_000

/** What clients see of a node that ends. */
const ended = / no answer$/
/** What clients of a load balancer see of a node that stops in order. */
const closed = / closed by a node that is there$/
/** What clients see of one that does not get in time what it needs, such as the sessions that the other one had. */
const late = / (CONNACK (3|136)|503 store_timeout)$/

export const faults = {
  /** Of the oldest node, which leads; its clients go to the other one, and to a new one that comes soon. */
  killNode: nodeEnds('kill -9 of a node', false, (service, member) => service.kill(member)),
  /** SIGTERM. */
  stopNode: nodeEnds('a node is stopped', true, (service, member) => service.stop(member)),
  /** Started again at once on what it has. */
  killRedis: {
    name: 'kill -9 of Redis',
    async happen({ service }) {
      await service.redis.kill()
      await service.redis.restart()
      await delay(2_000)
      return nothingSeen
    },
  },
  /** Redis takes nothing and answers nothing, and no connection is closed. */
  hangRedis: outage('Redis hangs for 10 s', {
    begin: ({ service: { redis } }) => redis.process.kill('SIGSTOP'),
    away,
    end: ({ service: { redis } }) => redis.process.kill('SIGCONT'),
  }),
  /** SIGTERM, and started again on what it has. */
  stopRedis: outage('Redis is stopped for 10 s', {
    begin: ({ service: { redis } }) => redis.stop(),
    away,
    end: ({ service: { redis } }) => redis.restart(),
  }),
  /** The same without a pause. */
  restartRedis: outage('Redis is restarted', {
    begin: ({ service: { redis } }) => redis.stop(),
    away: 0,
    end: ({ service: { redis } }) => redis.restart(),
  }),
  /** The connections of a node to Redis are reset, and so are new ones. */
  refuseNode: ofNode('a node is refused by Redis for 10 s', ({ path }) => path?.refuse()),
  /** Whatever is sent between a node and Redis goes nowhere, and no connection is closed. */
  isolateNode: ofNode('a node cannot reach Redis for 10 s', ({ path }) => path?.swallow()),
  /** SIGTERM of each node in turn, which is back before the next one goes. */
  restartNodes: { name: 'the nodes are restarted, one after the other', happen: restartNodes },
} as const satisfies Record<string, Fault>

function nodeEnds(
  name: string,
  inOrder: boolean,
  end: (service: Service, member: Member) => Promise<Exit>,
): Fault {
  return {
    name,
    async happen(rounds) {
      const { service, testators } = rounds
      const at = Date.now()
      const ending = end(service, service.member(0))
      const returning = testators?.nodeEnds(at, { inOrder })
      await ending
      await delay(alone)
      await service.add()
      await returning
      await delay(alone)
      const answers = describe(rounds.takeAnswers())
      const others = answers.filter(answer => !ended.test(answer)).map(answer => `the other node: ${answer}`)
      const isLate = (answer: string) => late.test(answer) || closed.test(answer)
      return {
        violations: others.filter(answer => !isLate(answer)),
        overdue: others.filter(isLate),
        notes: [],
      }
    },
  }
}

async function restartNodes(rounds: Rounds): Promise<Seen> {
  const { service, writers, testators } = rounds
  const began = performance.now()
  const violations: string[] = []
  const allAreBack = testators?.comeBack()
  for (const member of service.members) {
    const { code, signal } = await service.restart(member)
    if (code !== 0) violations.push(`a node ended with status ${code}, ${signal}`)
    const isBack = async () => (await service.ready()) === service.members.length
    if (!(await eventually(isBack, deadline))) violations.push('a node is not given clients')
  }
  await allAreBack?.()
  // The last to be closed were back within it, or their wills are written.
  await delay(Math.max(2 * service.willGrace, testators?.willDelay ?? 0))
  const answers = describe(rounds.takeAnswers())
  const { gap, client } = writers
    .map(({ ledger }) => longestGap(ledger, began))
    .reduce((one, other) => (one.gap > other.gap ? one : other))
  return {
    violations: [...violations, ...answers.filter(answer => !closed.test(answer) && !late.test(answer))],
    overdue: [
      ...answers.filter(answer => late.test(answer)),
      ...(gap > promised ? [`${client} had no ack for ${seconds(gap)}`] : []),
    ],
    notes: [
      ...answers.filter(answer => closed.test(answer)),
      `nobody had no ack for more than ${seconds(gap)} (${client})`,
    ],
  }
}

/** Between two acks of one client, since this time on the clock of `performance.now()`; milliseconds. */
function longestGap({ acked }: Ledger, since: number) {
  const newest = new Map<string, number>()
  let longest = { gap: 0, client: 'nobody' }
  for (const { name, at } of acked) {
    const client = clientOf(name)
    const gap = at - (newest.get(client) ?? at)
    if (at > since && gap > longest.gap) longest = { gap, client }
    newest.set(client, at)
  }
  return longest
}

/** One node is without a store. Nobody at the other may be closed; `check` looks at what all of them received. */
function ofNode(name: string, begin: (member: Member) => void): Fault {
  return {
    name,
    happen: rounds => {
      const { watchers } = rounds
      const [member, losses] = [rounds.service.member(1), watchers?.losses ?? 0]
      const course = { begin: () => begin(member), away, end: () => member.path?.restore() }
      const untilReady = async (_: Rounds, { back }: { readonly back: number }) => {
        await untilDone(async () => {
          const { status } = await fetch(`${member.server.url}/readyz`)
          if (status !== 200) throw new Error(`the node that was cut is not ready: ${status}`)
        })
        const readyAfter = performance.now() - back
        return {
          violations: [],
          overdue: readyAfter > promised ? [`ready again after ${seconds(readyAfter)}`] : [],
          notes: [
            `ready after ${seconds(readyAfter)}`,
            `${(watchers?.losses ?? 0) - losses} live subscribers were closed`,
          ],
        }
      }
      return outage(name, course, () => [member], untilReady).happen(rounds)
    },
  }
}
