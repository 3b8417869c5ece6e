import { createHistogram } from 'node:perf_hooks'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { answerCommands } from '../load/commands.ts'
import type { SubscribersReport, SubscribersSetup } from './subscribers.ts'

/** Many subscribers in a process of their own, so that what they cost is not the server's nor the writer's. */

const lags = createHistogram()
/** Of each subscriber, the number of the next value. */
let next: number[] = []
let expected: number | undefined
let received = 0
let outOfOrder = 0
let closed = 0
/** Subscribers that connect at once. */
const atOnce = 25

answerCommands({
  subscribe: async (setup: SubscribersSetup) => {
    next = Array.from({ length: setup.count }, () => 0)
    expected = setup.expected
    for (let first = 0; first < setup.count; first += atOnce) {
      const places = Array.from(
        { length: Math.min(atOnce, setup.count - first) },
        (_, index) => first + index,
      )
      await Promise.all(places.map(place => subscribe(setup, place)))
    }
  },
  report: (): SubscribersReport => {
    const lag = (percentile: number) => lags.percentile(percentile) / 1_000
    return {
      received,
      outOfOrder,
      closed,
      complete: next.filter(number => number === expected).length,
      lag: { p50: lag(50), p99: lag(99), max: lags.max / 1_000 },
    }
  },
})

async function subscribe({ url, password, topic, qos }: SubscribersSetup, place: number): Promise<void> {
  const link = await openLink({
    url,
    clientId: `subscriber-${place}`,
    password,
    onMessage: ({ payload }) => {
      const { value } = JSON.parse(payload.toString()) as { value: { n: number; sentAt: number } }
      received++
      if (value.n !== next[place]) outOfOrder++
      next[place] = value.n + 1
      lags.record(Math.max(1, Math.round((Date.now() - value.sentAt) * 1_000)))
    },
  })
  void link.closed.then(() => closed++)
  await link.subscribeTo({ topic, qos: qos ?? ((place % 2) as 0 | 1) })
}
