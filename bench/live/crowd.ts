import { setTimeout as delay } from 'node:timers/promises'
import { createThing } from '../../test/helpers/http-client.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import type { ObservedServer } from './observed.ts'
import type { EventLoopDelay } from './observer.ts'
import { Subscribers, type SubscribersReport } from './subscribers.ts'

export interface CrowdResult {
  readonly report: SubscribersReport
  /** Resident bytes of the server: without subscribers, with them, and highest while records came. */
  readonly memory: { readonly before: number; readonly connected: number; readonly highest: number }
  readonly delay: EventLoopDelay
}

/** Subscribers over WebSocket of `values/#` of one thing, while records come one at a time. */
export async function measureCrowd(
  observed: ObservedServer,
  {
    subscribers,
    rate,
    records,
  }: { readonly subscribers: number; readonly rate: number; readonly records: number },
): Promise<CrowdResult> {
  const { server } = observed
  const thing = await createThing(server)
  const before = observed.residentMemory()
  const crowd = await Subscribers.start({
    url: server.webSocketUrl,
    password: thing.thingToken,
    topic: `things/${thing.thingToken}/values/#`,
    count: subscribers,
    expected: records,
  })
  const connected = observed.residentMemory()
  let highest = connected
  const link = await openLink({ url: server.mqttUrl, clientId: 'writer', password: thing.thingToken })
  await observed.eventLoopDelay()
  const begin = performance.now()
  for (let n = 0; n < records; n++) {
    await delay(Math.max(0, begin + (n * 1_000) / rate - performance.now()))
    const body = `{"values":[{"key":"n","value":{"n":${n},"sentAt":${Date.now()}}}]}`
    await link.publish(`things/${thing.thingId}/write`, body)
    if (n % rate === 0) highest = Math.max(highest, observed.residentMemory())
  }
  const report = await crowd.untilReceived(subscribers * records)
  const seen = await observed.eventLoopDelay()
  await link.disconnect()
  await crowd.stop()
  return { report, memory: { before, connected, highest }, delay: seen }
}
