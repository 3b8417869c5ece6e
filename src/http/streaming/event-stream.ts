import type { Commit } from '../../core/ports.ts'
import { type Live, LiveWrite, type Subscriber } from '../../live/index.ts'
import { isStreamed } from '../../live/streams/own-stream-log.ts'
import type { Streamed } from '../../live/streams/shared-stream-log.ts'
import type { LiveStream, StreamForm } from './live-stream.ts'

/** Server-sent events (contract §8). */
export const eventsType = { contentType: 'text/event-stream' } as const

const comment = Buffer.from(':\n\n')
/** What is read again is handed to a slow client in parts of so many bytes. */
const replayPart = 64 * 1024
const resetData =
  '{"status":"reset","message":"the missed writes are no longer kept: read the resources again"}'

/** The writes of things as events. */
export class EventStreams {
  readonly #live: Live
  /** Made once for all streams. */
  readonly #events = new WeakMap<LiveWrite, Buffer>()

  constructor(live: Live) {
    this.#live = live
  }

  /**
   * The form of a stream. To keep it alive its client is given an id, too: that of the last event is not known for ever
   * where other things are written to.
   */
  form(streamed: Streamed): StreamForm {
    const keepAlive = () => Buffer.from(`:\nid: ${streamed.eventId(this.#live.keptWriteNumber)}\n\n`)
    return { ...eventsType, keepAlive }
  }

  /**
   * Sends the writes of a thing, from behind an event on if that is given and known, else from now on.
   *
   * @param lastEventId the `id` of the last event that the client has
   */
  begin(stream: LiveStream, streamed: Streamed, lastEventId: string | undefined): void {
    const { thingId } = streamed
    const reset = () => {
      const id = `id: ${streamed.eventId(this.#live.keptWriteNumber)}\n`
      stream.send(Buffer.from(`event: reset\n${id}data: ${resetData}\n\n`))
    }
    const subscriber: Subscriber = {
      deliver: write => {
        if (write.hasWhole) stream.send(this.#eventOf(write, streamed), write.committedAt)
      },
      missed: reset,
    }
    stream.onClose(() => this.#live.unsubscribe(thingId, subscriber))
    this.#live.subscribe(thingId, subscriber)
    const now = this.#live.keptWriteNumber
    if (lastEventId === undefined) {
      // Without data it is no event, and still the client's last id: it can resume before the first write.
      stream.send(Buffer.from(`id: ${streamed.eventId(now)}\n\n`))
      return
    }
    const commits = streamed.resume(lastEventId, now)
    if (!commits) {
      reset()
      return
    }
    // There may be nothing to give for a while, and the head leaves with the first piece.
    stream.send(comment)
    this.#replay(stream, streamed, commits)
  }

  /** Sends these writes before whatever is sent later. */
  #replay(stream: LiveStream, streamed: Streamed, commits: AsyncGenerator<Commit>): void {
    const slot = stream.openSlot()
    const fill = async () => {
      let waiting = 0
      for await (const commit of commits) {
        if (stream.isClosed) return
        if (!isStreamed(commit)) continue
        const bytes = this.#eventOf(new LiveWrite(commit), streamed)
        slot.push({ bytes })
        waiting += bytes.length
        if (waiting < replayPart) continue
        if (!(await slot.whenTaken())) return
        waiting = 0
      }
      slot.close()
    }
    // The client finds the store as it is when it comes back.
    fill().catch(() => stream.cut())
  }

  #eventOf(write: LiveWrite, streamed: Streamed): Buffer {
    const made = this.#events.get(write)
    if (made) return made
    const { stored, writeNumber } = write.commit
    // What is not stored has a number that may be given again: the client keeps the id of the event before.
    const id = stored ? `id: ${streamed.eventId(writeNumber)}\n` : ''
    const event = Buffer.from(`event: values\n${id}data: ${write.records()}\n\n`)
    this.#events.set(write, event)
    return event
  }
}
