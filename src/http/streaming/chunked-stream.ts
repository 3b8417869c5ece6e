import type { Live, Subscriber } from '../../live/index.ts'
import type { LiveStream, StreamForm } from './live-stream.ts'

const nothing = Buffer.from('{}')
const subscribed = Buffer.from('{"status":"success","message":"subscribed"}')

/** One JSON document per chunk, nothing between them (contract §8). */
export const chunkedJson: StreamForm = {
  contentType: 'application/json',
  keepAlive: () => nothing,
}

/** Sends the writes of a thing from now on, as `v2/things/<ref>` of MQTT does. */
export function streamChunks(stream: LiveStream, live: Live, thingId: string): void {
  const subscriber: Subscriber = {
    deliver: write => {
      if (write.hasWhole) stream.send(write.whole(), write.committedAt)
    },
    // It could not say that something is missing.
    missed: () => stream.end(),
  }
  stream.onClose(() => live.unsubscribe(thingId, subscriber))
  live.subscribe(thingId, subscriber)
  stream.send(subscribed)
}
