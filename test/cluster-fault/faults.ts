import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import type { Exit, ServerProcess } from '../helpers/server-process.ts'
import { eventually } from '../helpers/waiting.ts'
import { deadline, seconds, untilDone } from './participant.ts'
import type { Fault, Rounds, Seen } from './rounds.ts'
import { type Member, type Service, willGrace } from './service.ts'
import { type Ack, clientOf, type TimedLedger } from './writers.ts'

/** Of Redis or of a way to it, milliseconds. */
const away = 10_000
/** In which what Redis had answered before is acknowledged, milliseconds. */
const inFlight = 200
/** Whoever was acknowledged within it waits for more, milliseconds. */
const recently = 2_000
/** Within which nodes serve and acknowledge again, and CONNECTs are answered, milliseconds (issue 6; contract §7). */
const promised = 5_000
/** Long enough to need more than luck, and shorter than a killed node counts as alive, milliseconds. */
const alone = 1_000
/** Between two CONNECTs to one node, milliseconds. */
const betweenConnects = 500

/** What clients see of a node that ends. */
const ended = / no answer$/
/** What clients of a load balancer see of a node that stops in order. */
const closed = / closed by a node that is there$/
/** What clients see of one that does not get in time what it needs, such as the sessions that the other one had. */
const late = / (CONNACK 3|503 store_timeout)$/

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
      return { violations: [], overdue: [], notes: [] }
    },
  },
  /** Redis takes nothing and answers nothing, and no connection is closed. */
  hangRedis: ofRedis('Redis hangs for 10 s', {
    begin: ({ redis }) => redis.process.kill('SIGSTOP'),
    away,
    end: ({ redis }) => redis.process.kill('SIGCONT'),
  }),
  /** SIGTERM, and started again on what it has. */
  stopRedis: ofRedis('Redis is stopped for 10 s', {
    begin: ({ redis }) => redis.stop(),
    away,
    end: ({ redis }) => redis.restart(),
  }),
  /** The same without a pause. */
  restartRedis: ofRedis('Redis is restarted', {
    begin: ({ redis }) => redis.stop(),
    away: 0,
    end: ({ redis }) => redis.restart(),
  }),
  /** The connections of a node to Redis are reset, and so are new ones. */
  refuseNode: ofNode('a node is refused by Redis for 10 s', ({ path }) => path.refuse()),
  /** Whatever is sent between a node and Redis goes nowhere, and no connection is closed. */
  isolateNode: ofNode('a node cannot reach Redis for 10 s', ({ path }) => path.swallow()),
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
    async happen({ service, heavy, steady, testators }) {
      const at = Date.now()
      const ending = end(service, service.member(0))
      const returning = testators.nodeEnds(at, { inOrder })
      await ending
      await delay(alone)
      await service.add()
      await returning
      await delay(alone)
      const answers = [heavy, steady].flatMap(writers => writers.takeAnswers())
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

async function restartNodes({ service, heavy, steady, testators }: Rounds): Promise<Seen> {
  const began = performance.now()
  const violations: string[] = []
  const allAreBack = testators.comeBack()
  for (const member of service.members) {
    const { code, signal } = await service.restart(member)
    if (code !== 0) violations.push(`a node ended with status ${code}, ${signal}`)
    const isBack = async () => (await service.ready()) === service.members.length
    if (!(await eventually(isBack, deadline))) violations.push('a node is not given clients')
  }
  await allAreBack()
  // The last to be closed were back within it, or their wills are written.
  await delay(2 * willGrace)
  const answers = [heavy, steady].flatMap(writers => writers.takeAnswers())
  const { gap, client } = [heavy, steady]
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
function longestGap({ acked }: TimedLedger, since: number) {
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

interface Course {
  readonly begin: (service: Service) => unknown
  /** Milliseconds. */
  readonly away: number
  readonly end: (service: Service) => unknown
}

/** On the clock of `performance.now()`, milliseconds: when the store went, until when it is away for certain, when it was back. */
interface Times {
  readonly began: number
  readonly over: number
  readonly back: number
}

/** All nodes are without a store. */
function ofRedis(name: string, course: Course): Fault {
  return outage(name, course, ({ members }) => members, untilAcked)
}

/** One node is without a store. Nobody at the other may be closed; `check` looks at what all of them received. */
function ofNode(name: string, begin: (member: Member) => void): Fault {
  return {
    name,
    happen: rounds => {
      const { watchers } = rounds
      const [member, losses] = [rounds.service.member(1), watchers.losses]
      const course = { begin: () => begin(member), away, end: () => member.path.restore() }
      const untilReady = async (_: Rounds, { back }: Times) => {
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
            `${watchers.losses - losses} live subscribers were closed`,
          ],
        }
      }
      return outage(name, course, () => [member], untilReady).happen(rounds)
    },
  }
}

/** @param untilServed resolves when there is service again, with what was seen of it */
function outage(
  name: string,
  course: Course,
  nodesOf: (service: Service) => readonly Member[],
  untilServed: (rounds: Rounds, times: Times) => Promise<Seen>,
): Fault {
  return {
    name,
    async happen(rounds) {
      const { service, steady } = rounds
      await course.begin(service)
      const began = performance.now()
      const over = began + course.away
      const connecting = nodesOf(service).map(({ server }) => connectUntil(over, server, steady.things))
      await delay(course.away)
      await course.end(service)
      const served = await untilServed(rounds, { began, over, back: performance.now() })
      const connacks = (await Promise.all(connecting)).flat()
      const slow = Math.max(0, ...connacks.map(({ askedAt, answeredAt }) => answeredAt - askedAt))
      // Contract §7: a node that cannot reach its store answers with CONNACK 3.
      const wrong = connacks.filter(({ returnCode, answeredAt }) => returnCode !== 3 && answeredAt < over)
      return {
        violations: [
          ...wrong.map(({ returnCode }) => `CONNACK ${returnCode ?? 'missing'} while Redis was away`),
          ...served.violations,
        ],
        overdue: [
          ...(slow > promised ? [`a CONNECT was answered after ${seconds(slow)}`] : []),
          ...served.overdue,
        ],
        notes: [
          `${connacks.length} CONNECTs meanwhile, each answered within ${seconds(slow)}`,
          ...served.notes,
        ],
      }
    },
  }
}

/** The answer to a CONNECT; times on the clock of `performance.now()`, milliseconds. */
interface Connack {
  /** Undefined: the connection was closed without one. */
  readonly returnCode: number | undefined
  readonly askedAt: number
  readonly answeredAt: number
}

/** New clients, one after another until this time on the clock of `performance.now()`, as if each were the first. */
async function connectUntil(over: number, { mqttUrl: url }: ServerProcess, things: readonly Thing[]) {
  const connacks: Promise<Connack>[] = []
  while (performance.now() < over) {
    const askedAt = performance.now()
    const { thingToken = '' } = things[connacks.length % things.length] ?? {}
    const answer = connectMqtt({ url, username: 'new', password: thingToken }).then(
      async client => {
        const answeredAt = performance.now()
        await client.destroy()
        return { returnCode: client.connack.returnCode, askedAt, answeredAt }
      },
      () => ({ returnCode: undefined, askedAt, answeredAt: performance.now() }),
    )
    connacks.push(answer)
    await delay(betweenConnects)
  }
  return await Promise.all(connacks)
}

/** Waits for an ack for each client that comes back until it gets one; nobody may have had one meanwhile. */
async function untilAcked({ heavy, steady, magic }: Rounds, { began, over, back }: Times): Promise<Seen> {
  const acks = () =>
    [heavy, steady].flatMap(({ name: whose, ledger }) =>
      ledger.acked.map(({ name, at }) => ({ client: `${whose} ${clientOf(name)}`, at })),
    )
  const recent = acks().filter(({ at }) => at > began - recently)
  const waiting = new Set(recent.map(({ client }) => client))
  let slowest = { client: 'nobody', wait: 0 }
  while (waiting.size > 0 && performance.now() < back + deadline) {
    await delay(50)
    for (const { client, at } of acks()) {
      if (at < back || !waiting.delete(client)) continue
      if (at - back > slowest.wait) slowest = { client, wait: at - back }
    }
  }
  const ledgers = [heavy.ledger, steady.ledger, ...(magic?.ledgers ?? [])]
  const isMeanwhile = ({ sentAt, at }: Ack) => sentAt > began + inFlight && at < over
  const meanwhile = ledgers.flatMap(({ acked }) => acked).filter(isMeanwhile)
  const { wait, client } = slowest
  return {
    violations: [
      ...meanwhile.map(({ name, at }) => `${name} was acked after ${seconds(at - began)}`),
      ...[...waiting].map(missing => `${missing} was not acked any more`),
    ],
    overdue: wait > promised ? [`${client} waited ${seconds(wait)} for an ack when Redis was back`] : [],
    notes: [`acks for all again after ${seconds(wait)} (${client})`],
  }
}
