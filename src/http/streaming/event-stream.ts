import type { Commit } from '../../core/ports.ts'
import { type Live, LiveWrite, type Subscriber } from '../../live/index.ts'
import { isStreamed } from '../../live/streams/own-stream-log.ts'
import type { Streamed } from '../../live/streams/shared-stream-log.ts'
import type { LiveStream, StreamForm } from './live-stream.ts'

/** Server-sent events (contract §8). */
export const eventsType = { contentType: 'text/event-stream' } as const

const comment = Buffer.from(':\n\n')
/** Number of bytes of replayed events after which the replay waits for a slow client. */
const replayPart = 64 * 1024
const resetData =
  '{"status":"reset","message":"the missed writes are no longer kept: read the resources again"}'

/** Sends the writes of things as server-sent events. */
export class EventStreams {
  readonly #live: Live
  /** Encoded events, so that an event is encoded only once for all streams. */
  readonly #events = new WeakMap<LiveWrite, Buffer>()

  constructor(live: Live) {
    this.#live = live
  }

  /** Each keep-alive contains a new id, because the id of the last event may expire while only other things write. */
  form(streamed: Streamed): StreamForm {
    const keepAlive = () => Buffer.from(`:\nid: ${streamed.eventId(this.#live.keptWriteNumber)}\n\n`)
    return { ...eventsType, keepAlive }
  }

  /** Sends the writes of a thing after `lastEventId`, the client's last event. Without `lastEventId`, sends writes from now on. */
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
      // An id without data is not an event, but the client keeps the id, so it can resume even if it has not received an event yet.
      stream.send(Buffer.from(`id: ${streamed.eventId(now)}\n\n`))
      return
    }
    const commits = streamed.resume(lastEventId, now)
    if (!commits) {
      reset()
      return
    }
    // Sends a comment, because the head is sent only with the first piece, and there may be no event for a while.
    stream.send(comment)
    this.#replay(stream, streamed, commits)
  }

  /** Sends these commits before any piece that is passed to the stream later. */
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
    // If the store fails, the stream ends, and the client has to reconnect.
    fill().catch(() => stream.cut())
  }

  #eventOf(write: LiveWrite, streamed: Streamed): Buffer {
    const made = this.#events.get(write)
    if (made) return made
    const { stored, writeNumber } = write.commit
    // The number of a write that is not stored may be reused, so the client must keep the previous id.
    const id = stored ? `id: ${streamed.eventId(writeNumber)}\n` : ''
    const event = Buffer.from(`event: values\n${id}data: ${write.records()}\n\n`)
    this.#events.set(write, event)
    return event
  }
}
