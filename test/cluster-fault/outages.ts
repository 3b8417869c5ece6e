import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { deadline } from './participant.ts'
import type { Fault, Rounds } from './rounds.ts'
import type { Service } from './service.ts'
import { type Ack, clientOf } from './timed-ledger.ts'

/** Milliseconds. */
const away = 10_000
/** In which the acks are received of what Redis had answered before, milliseconds. */
const inFlight = 1_000
/** Whoever was acknowledged within it waits for more, milliseconds. */
const recently = 2_000
/** Within which writes are acknowledged again, and CONNECTs are answered, milliseconds (issue 6, bar 4; contract §7). */
const promised = 5_000
/** Between two CONNECTs to one node, milliseconds. */
const connectInterval = 500

interface Connack {
  readonly returnCode: number | undefined
  readonly askedAt: number
  readonly answeredAt: number
}

/** Redis takes nothing and answers nothing, and no connection is closed. */
export const hangRedis = outage(
  'Redis hangs for 10 s',
  async ({ redis }) => void redis.process.kill('SIGSTOP'),
  async ({ redis }) => void redis.process.kill('SIGCONT'),
)

/** SIGTERM, and started again on what it has. */
export const stopRedis = outage(
  'Redis is stopped for 10 s',
  ({ redis }) => redis.stop(),
  ({ redis }) => redis.restart(),
)

function outage(
  name: string,
  begin: (service: Service) => Promise<void>,
  end: (service: Service) => Promise<void>,
): Fault {
  return {
    name,
    async happen(rounds) {
      const { service } = rounds
      await begin(service)
      const began = performance.now()
      const over = began + away
      const connecting = service.members.map(({ server }) => connectUntil(over, server, rounds.steady.things))
      await delay(away)
      await end(service)
      const back = performance.now()
      const { slowest, missing } = await untilAcked(rounds, { began, back })
      const connacks = (await Promise.all(connecting)).flat()
      const meanwhile = acksOf(rounds).filter(({ at }) => at > began + inFlight && at < over)
      const letIn = connacks.filter(({ returnCode, answeredAt }) => returnCode !== 3 && answeredAt < over)
      const slow = Math.max(...connacks.map(({ askedAt, answeredAt }) => answeredAt - askedAt))
      const violations = [
        ...meanwhile.map(({ name: write, at }) => `${write} was acked after ${seconds(at - began)}`),
        ...letIn.map(({ returnCode }) => `CONNACK ${returnCode} while Redis was away`),
        ...(slow > promised ? [`a CONNECT was answered after ${seconds(slow)}`] : []),
        ...(slowest.wait > promised
          ? [`${slowest.client} waited ${seconds(slowest.wait)} for an ack when Redis was back`]
          : []),
        ...missing.map(client => `${client} was not acked any more`),
      ]
      const notes = [
        `${connacks.length} CONNECTs meanwhile, each answered within ${seconds(slow)}`,
        `acks for all again after ${seconds(slowest.wait)} (${slowest.client})`,
      ]
      return { violations, notes }
    },
  }
}

function acksOf({ heavy, steady, magic }: Rounds): Ack[] {
  return [heavy.ledger, steady.ledger, ...magic.ledgers].flatMap(({ acked }) => acked)
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
  const acks = () => [heavy.ledger, steady.ledger].flatMap(({ acked }) => acked)
  const recent = acks().filter(({ at }) => at > times.began - recently)
  const waiting = new Set(recent.map(({ name }) => clientOf(name)))
  let slowest = { client: 'nobody', wait: 0 }
  while (waiting.size > 0 && performance.now() < times.back + deadline) {
    await delay(50)
    for (const { name, at } of acks()) {
      if (at < times.back || !waiting.delete(clientOf(name))) continue
      if (at - times.back > slowest.wait) slowest = { client: clientOf(name), wait: at - times.back }
    }
  }
  return { slowest, missing: [...waiting] }
}

/** New clients, one after another, as if each were the first. */
async function connectUntil(
  over: number,
  { mqttUrl: url }: ServerProcess,
  things: readonly Thing[],
): Promise<readonly Connack[]> {
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
    await delay(connectInterval)
  }
  return await Promise.all(connacks)
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`
}
