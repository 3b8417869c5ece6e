import { type Live, LiveWrite, type Subscriber } from '../live/index.ts'
import type { LiveStream, StreamForm } from './live-stream.ts'
import type { Streamed } from './stream-log.ts'
import type { StreamRuns } from './stream-runs.ts'
import { isStreamed } from './streamed-thing.ts'

/** Server-sent events (contract §8). */
export const serverSentEvents: StreamForm = {
  contentType: 'text/event-stream',
  keepAlive: Buffer.from(':\n\n'),
}

/** What is read again is handed to a slow client in parts of so many bytes. */
const replayPart = 64 * 1024
const resetData = '{"status":"reset","message":"what was written since is not kept"}'

/** The writes of things as events. */
export class EventStreams {
  readonly #live: Live
  /** Made once for all streams. */
  readonly #events = new WeakMap<LiveWrite, Buffer>()

  constructor(live: Live) {
    this.#live = live
  }

  /**
   * Sends the writes of a thing, from a position on if that is given and known, else from now on.
   *
   * @param lastEventId the `id` of the last event that the client has
   */
  begin(stream: LiveStream, { thing, runs }: Streamed, lastEventId: string | undefined): void {
    const { thingId } = thing
    const subscriber: Subscriber = {
      deliver: write => {
        if (write.hasWhole) stream.send(this.#eventOf(write, runs))
      },
    }
    stream.onClose(() => this.#live.unsubscribe(thingId, subscriber))
    this.#live.subscribe(thingId, subscriber)
    const now = this.#live.position
    const after = lastEventId === undefined ? undefined : runs.read(lastEventId)
    if (after !== undefined && after >= thing.since && after <= now) {
      // There may be nothing to give for a while, and the head leaves with the first piece.
      stream.send(serverSentEvents.keepAlive)
      this.#replay(stream, { thing, runs }, after, now)
      return
    }
    const position = `id: ${runs.position(now)}\n`
    // Without data it is no event, and still the client's last id: it can resume before the first write.
    const first = lastEventId === undefined ? position : `event: reset\n${position}data: ${resetData}\n`
    stream.send(Buffer.from(`${first}\n`))
  }

  /** Sends the writes behind `after`, up to `until`, before whatever was or is sent. */
  #replay(stream: LiveStream, { thing, runs }: Streamed, after: number, until: number): void {
    const gap = stream.openGap()
    const release = thing.hold(after)
    const fill = async () => {
      let waiting = 0
      const isOf = (thingId: string) => thingId === thing.thingId
      for await (const commit of this.#live.log.read({ after, before: until + 1, order: 'asc', isOf })) {
        if (stream.isClosed) return
        if (!isStreamed(commit)) continue
        const event = this.#eventOf(new LiveWrite(commit), runs)
        gap.push(event)
        waiting += event.length
        if (waiting < replayPart) continue
        if (!(await gap.whenTaken())) return
        waiting = 0
      }
      gap.close()
    }
    // The client finds the store as it is when it comes back.
    fill()
      .catch(() => stream.cut())
      .finally(release)
  }

  #eventOf(write: LiveWrite, runs: StreamRuns): Buffer {
    const made = this.#events.get(write)
    if (made) return made
    const { stored, writeNumber } = write.commit
    // What is not stored has a number that may be given again: the client keeps the id of the event before.
    const id = stored ? `id: ${runs.position(writeNumber)}\n` : ''
    const event = Buffer.from(`event: values\n${id}data: ${write.records()}\n\n`)
    this.#events.set(write, event)
    return event
  }
}
