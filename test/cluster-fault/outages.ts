import { setTimeout as delay } from 'node:timers/promises'
import { connectUntil, slowestConnack, wrongConnacks } from './connects.ts'
import { deadline } from './participant.ts'
import type { Fault, Rounds } from './rounds.ts'
import type { Service } from './service.ts'
import { type Ack, clientOf } from './timed-ledger.ts'
import { seconds } from './words.ts'

/** Milliseconds. */
const away = 10_000
/** In which what Redis had answered before is acknowledged, milliseconds. */
const inFlight = 200
/** Whoever was acknowledged within it waits for more, milliseconds. */
const recently = 2_000
/** Within which writes are acknowledged again, and CONNECTs are answered, milliseconds (issue 6, bar 4; contract §7). */
const promised = 5_000

/** Redis takes nothing and answers nothing, and no connection is closed. */
export const hangRedis = outage('Redis hangs for 10 s', {
  begin: async ({ redis }) => void redis.process.kill('SIGSTOP'),
  away,
  end: async ({ redis }) => void redis.process.kill('SIGCONT'),
})

/** SIGTERM, and started again on what it has. */
export const stopRedis = outage('Redis is stopped for 10 s', {
  begin: ({ redis }) => redis.stop(),
  away,
  end: ({ redis }) => redis.restart(),
})

/** The same without a pause. */
export const restartRedis = outage('Redis is restarted', {
  begin: ({ redis }) => redis.stop(),
  away: 0,
  end: ({ redis }) => redis.restart(),
})

interface Course {
  readonly begin: (service: Service) => Promise<void>
  /** Milliseconds. */
  readonly away: number
  readonly end: (service: Service) => Promise<void>
}

function outage(name: string, course: Course): Fault {
  return {
    name,
    async happen(rounds) {
      const { service } = rounds
      await course.begin(service)
      const began = performance.now()
      const over = began + course.away
      const connecting = service.members.map(({ server }) => connectUntil(over, server, rounds.steady.things))
      await delay(course.away)
      await course.end(service)
      const back = performance.now()
      const { slowest, missing } = await untilAcked(rounds, { began, back })
      const connacks = (await Promise.all(connecting)).flat()
      const meanwhile = acksOf(rounds).filter(({ sentAt, at }) => sentAt > began + inFlight && at < over)
      const slow = slowestConnack(connacks)
      return {
        violations: [
          ...meanwhile.map(({ name: write, at }) => `${write} was acked after ${seconds(at - began)}`),
          ...wrongConnacks(connacks, over),
          ...missing.map(client => `${client} was not acked any more`),
        ],
        overdue: [
          ...(slow > promised ? [`a CONNECT was answered after ${seconds(slow)}`] : []),
          ...(slowest.wait > promised
            ? [`${slowest.client} waited ${seconds(slowest.wait)} for an ack when Redis was back`]
            : []),
        ],
        notes: [
          `${connacks.length} CONNECTs meanwhile, each answered within ${seconds(slow)}`,
          `acks for all again after ${seconds(slowest.wait)} (${slowest.client})`,
        ],
      }
    },
  }
}

function acksOf({ heavy, steady, magic }: Rounds): Ack[] {
  return [heavy.ledger, steady.ledger, ...(magic?.ledgers ?? [])].flatMap(({ acked }) => acked)
}

/**
 * Waits for an ack for each client that comes back until it gets one.
 *
 * @param times on the clock of `performance.now()`, milliseconds
 * @returns who waited longest, and how long, milliseconds; and those that got none
 */
async function untilAcked(
  { heavy, steady }: Rounds,
  times: { readonly began: number; readonly back: number },
) {
  const acks = () =>
    [heavy, steady].flatMap(({ name: whose, ledger }) =>
      ledger.acked.map(({ name, at }) => ({ client: `${whose} ${clientOf(name)}`, at })),
    )
  const recent = acks().filter(({ at }) => at > times.began - recently)
  const waiting = new Set(recent.map(({ client }) => client))
  let slowest = { client: 'nobody', wait: 0 }
  while (waiting.size > 0 && performance.now() < times.back + deadline) {
    await delay(50)
    for (const { client, at } of acks()) {
      if (at < times.back || !waiting.delete(client)) continue
      if (at - times.back > slowest.wait) slowest = { client, wait: at - times.back }
    }
  }
  return { slowest, missing: [...waiting] }
}
