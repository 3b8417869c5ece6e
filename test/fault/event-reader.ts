import type { Thing } from '../helpers/http-client.ts'
import { EventParser } from '../http/event-source.ts'
import { type Habit, valueIn } from './live-session.ts'
import { Receiver } from './receiver.ts'

/** A client of server-sent events that resumes where it was, over many lives of the server. */
export class EventReader {
  readonly habit: Habit
  readonly receiver: Receiver
  /** Resolves when the stream is gone, whoever ended it. */
  closed: Promise<void> = Promise.resolve()
  readonly #thing: Thing
  #lastId = ''
  #connection: AbortController | undefined

  constructor(habit: Habit, thing: Thing) {
    this.habit = habit
    this.receiver = new Receiver(`${habit} stream`, thing.thingId, 'writes')
    this.#thing = thing
  }

  /** Resolves when the stream has begun. */
  async connect(url: string): Promise<void> {
    const connection = new AbortController()
    this.#connection = connection
    const response = await fetch(`${url}/v2/things/${this.#thing.thingToken}`, {
      headers: {
        accept: 'text/event-stream',
        ...(this.#lastId !== '' && { 'last-event-id': this.#lastId }),
      },
      signal: connection.signal,
    })
    if (response.status !== 200 || !response.body) throw new Error(`no stream: ${response.status}`)
    this.receiver.connected()
    this.closed = this.#read(response.body)
  }

  async leave(): Promise<void> {
    this.#connection?.abort()
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = new EventParser(this.#lastId)
    const decoder = new TextDecoder()
    try {
      for await (const piece of body) {
        parser.feed(decoder.decode(piece, { stream: true }))
        this.#lastId = parser.lastEventId
        for (const { event, data } of parser.events.splice(0)) {
          if (event === 'values') this.receiver.take(valueIn(data))
          else this.receiver.breach(`event: ${event}`)
        }
      }
    } catch {
      // The connection is gone.
    }
  }
}
