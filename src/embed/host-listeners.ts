import { described } from '../core/options/given-options.ts'
import type { AcceptedRecord } from '../core/record/record.ts'
import type { Live, LiveWrite } from '../live/index.ts'
import { readingOf } from './host-reads.ts'
import type { HostThings, ReadingListener } from './reading.ts'

/**
 * Creates `HostThings.on`.
 *
 * @param onDefect called with each error from a listener; must not throw @param assertOpen throws once the service is closed
 */
export function createHostListeners(
  live: Pick<Live, 'subscribe' | 'unsubscribe'>,
  onDefect: (error: unknown) => void,
  assertOpen: () => void,
): HostThings['on'] {
  return (event, listener) => {
    assertOpen()
    if (event !== 'reading') {
      throw new TypeError(`on() must be given the event "reading", but it is ${described(event)}`)
    }
    if (typeof listener !== 'function') {
      throw new TypeError(
        `the listener of on("reading") must be a function, but it is ${described(listener)}`,
      )
    }
    let isStopped = false
    const subscriber = {
      deliver({ commit: { thingId, records } }: LiveWrite) {
        for (const record of records) {
          // The listener may have ended its subscription in the previous call.
          if (isStopped) return
          deliver(listener, thingId, record, onDefect)
        }
      },
    }
    live.subscribe(undefined, subscriber)
    return () => {
      isStopped = true
      live.unsubscribe(undefined, subscriber)
    }
  }
}

function deliver(
  listener: ReadingListener,
  thingId: string,
  record: AcceptedRecord,
  onDefect: (error: unknown) => void,
): void {
  try {
    const result = listener(readingOf(thingId, record))
    // An unhandled rejection would end the process.
    if (result instanceof Promise) result.catch(onDefect)
  } catch (error) {
    onDefect(error)
  }
}
