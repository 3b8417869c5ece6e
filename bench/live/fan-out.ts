import { createThing } from '../../test/helpers/http-client.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import type { ObservedServer } from './observed.ts'
import { Subscribers, type SubscribersReport } from './subscribers.ts'

export interface FanOutResult {
  /** Acked writes of one record each, a second. */
  readonly writes: number
  /** Messages a second, until the last one had come. */
  readonly deliveries: number
  readonly acked: number
  readonly report: SubscribersReport | undefined
}

const inFlight = 32

/** Writes as fast as acks come, while some subscribe to the thing over TCP. */
export async function measureFanOut(
  { server }: ObservedServer,
  {
    subscribers,
    qos,
    seconds,
  }: { readonly subscribers: number; readonly qos: 0 | 1; readonly seconds: number },
): Promise<FanOutResult> {
  const thing = await createThing(server)
  const crowd =
    subscribers === 0
      ? undefined
      : await Subscribers.start({
          url: server.mqttUrl,
          password: thing.thingToken,
          topic: `things/${thing.thingId}/values/#`,
          count: subscribers,
          qos,
        })
  const link = await openLink({ url: server.mqttUrl, clientId: 'writer', password: thing.thingToken })
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let sent = 0
  const sender = async () => {
    while (performance.now() < end) {
      const body = `{"values":[{"key":"n","value":{"n":${sent++},"sentAt":${Date.now()}}}]}`
      await link.publish(`things/${thing.thingId}/write`, body)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sender))
  const writingTime = (performance.now() - begin) / 1_000
  const report = await crowd?.untilReceived(subscribers * sent)
  const deliveryTime = (performance.now() - begin) / 1_000
  await link.disconnect()
  await crowd?.stop()
  return {
    writes: sent / writingTime,
    deliveries: (report?.received ?? 0) / deliveryTime,
    acked: sent,
    report,
  }
}
