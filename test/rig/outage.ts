import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { codeOf, connectMqtt } from '../helpers/mqtt-client.ts'
import { type Version, versionNames, versionOf } from '../helpers/mqtt-versions.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import type { Ack } from './ledger.ts'
import { deadline, seconds } from './participant.ts'
import type { Fault, Rounds, Seen } from './rounds.ts'
import type { Member, Service } from './server.ts'
import { clientOf } from './writers.ts'

/** In which what the store had answered before is acknowledged, milliseconds. */
const inFlight = 200
/** Whoever was acknowledged within it waits for more, milliseconds. */
const recently = 2_000
/** Within which nodes serve and acknowledge again, and CONNECTs are answered, milliseconds (issue 6; contract §7). */
export const promised = 5_000
/** Contract §7: the code of CONNACK of a node that cannot reach its store. */
const storeAway = { 4: 3, 5: 0x88 } as const
/** Between two CONNECTs to one node, milliseconds. */
const betweenConnects = 500

/** How the store goes away, and how it comes back. */
export interface Course {
  readonly begin: (rounds: Rounds) => unknown
  /** Milliseconds. */
  readonly away: number
  readonly end: (rounds: Rounds) => unknown
}

/** On the clock of `performance.now()`, milliseconds: when the store went, until when it is away for certain, when it was back. */
interface Times {
  readonly began: number
  readonly over: number
  readonly back: number
}

/**
 * Nodes are without a store for a while.
 *
 * @param untilServed resolves when there is service again, with what was seen of it
 */
export function outage(
  name: string,
  course: Course,
  nodesOf: (service: Service) => readonly Member[] = ({ members }) => members,
  untilServed: (rounds: Rounds, times: Times) => Promise<Seen> = untilAcked,
): Fault {
  return {
    name,
    async happen(rounds) {
      const { service, writers } = rounds
      await course.begin(rounds)
      const began = performance.now()
      const over = began + course.away
      const things = writers.flatMap(each => each.things)
      const connecting = nodesOf(service).map(({ server }) => connectUntil(over, server, things))
      await delay(course.away)
      await course.end(rounds)
      const served = await untilServed(rounds, { began, over, back: performance.now() })
      const connacks = (await Promise.all(connecting)).flat()
      const slow = Math.max(0, ...connacks.map(({ askedAt, answeredAt }) => answeredAt - askedAt))
      const wrong = connacks.filter(
        ({ version, code, answeredAt }) => code !== storeAway[version] && answeredAt < over,
      )
      return {
        violations: [
          ...wrong.map(
            ({ version, code }) =>
              `${versionNames[version]}: CONNACK ${code ?? 'missing'} while the store was away`,
          ),
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
  readonly version: Version
  /** Undefined: the connection was closed without one. */
  readonly code: number | undefined
  readonly askedAt: number
  readonly answeredAt: number
}

/** New clients, one after another until this time on the clock of `performance.now()`, as if each were the first. */
async function connectUntil(over: number, { mqttUrl: url }: ServerProcess, things: readonly Thing[]) {
  const connacks: Promise<Connack>[] = []
  while (performance.now() < over) {
    const askedAt = performance.now()
    const { thingToken = '' } = things[connacks.length % things.length] ?? {}
    const version = versionOf(connacks.length)
    const credential = { username: 'new', password: thingToken }
    const answer = connectMqtt({ url, protocolVersion: version, ...credential }).then(
      async client => {
        const answeredAt = performance.now()
        await client.destroy()
        return { version, code: codeOf(client.connack), askedAt, answeredAt }
      },
      () => ({ version, code: undefined, askedAt, answeredAt: performance.now() }),
    )
    connacks.push(answer)
    await delay(betweenConnects)
  }
  return await Promise.all(connacks)
}

/** Waits for an ack for each client that comes back until it gets one; nobody may have had one meanwhile. */
async function untilAcked({ writers, ledgers }: Rounds, { began, over, back }: Times): Promise<Seen> {
  const acks = () =>
    writers.flatMap(({ name: whose, ledger }) =>
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
  const isMeanwhile = ({ sentAt, at }: Ack) => sentAt > began + inFlight && at < over
  const meanwhile = ledgers.flatMap(({ acked }) => acked).filter(isMeanwhile)
  const { wait, client } = slowest
  return {
    violations: [
      ...meanwhile.map(({ name, at }) => `${name} was acked after ${seconds(at - began)}`),
      ...[...waiting].map(missing => `${missing} was not acked any more`),
    ],
    overdue: wait > promised ? [`${client} waited ${seconds(wait)} for an ack when the store was back`] : [],
    notes: [`acks for all again after ${seconds(wait)} (${client})`],
  }
}
