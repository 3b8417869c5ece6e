import { createHistogram } from 'node:perf_hooks'
import { MqttLink } from '../../test/soak/mqtt-link.ts'
import type { SubscribersReport, SubscribersSetup } from './subscribers.ts'

/** Many subscribers in a process of their own, so that what they cost is not the server's nor the writer's. */

const setup = JSON.parse(process.argv[2] ?? '{}') as SubscribersSetup
const lags = createHistogram()
/** Of each subscriber, the number of the next value. */
const next = Array.from({ length: setup.count }, () => 0)
let received = 0
let outOfOrder = 0
let closed = 0
/** Subscribers that connect at once. */
const atOnce = 25

for (let first = 0; first < setup.count; first += atOnce) {
  const places = Array.from({ length: Math.min(atOnce, setup.count - first) }, (_, index) => first + index)
  await Promise.all(places.map(subscribe))
}
process.on('message', () => {
  const complete = next.filter(number => number === setup.expected).length
  const lag = (percentile: number) => lags.percentile(percentile) / 1_000
  const report: SubscribersReport = {
    received,
    outOfOrder,
    closed,
    complete,
    lag: { p50: lag(50), p99: lag(99), max: lags.max / 1_000 },
  }
  process.send?.(report)
})
process.once('disconnect', () => process.exit())
process.send?.('ready')

async function subscribe(place: number): Promise<void> {
  const link = await MqttLink.open({
    url: setup.url,
    clientId: `subscriber-${place}`,
    password: setup.password,
    onMessage: ({ payload }) => {
      const { value } = JSON.parse(payload.toString()) as { value: { n: number; sentAt: number } }
      received++
      if (value.n !== next[place]) outOfOrder++
      next[place] = value.n + 1
      lags.record(Math.max(1, Math.round((Date.now() - value.sentAt) * 1_000)))
    },
  })
  void link.stream.closed.then(() => closed++)
  await link.subscribe({ topic: setup.topic, qos: setup.qos ?? ((place % 2) as 0 | 1) })
}
