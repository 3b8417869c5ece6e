import type { Thing } from '../helpers/http-client.ts'
import { type Habit, valueIn } from './live-session.ts'
import { Receiver } from './receiver.ts'

/** A client of server-sent events that resumes where it was, over many lives of the server. */
export class EventReader {
  readonly habit: Habit
  readonly receiver: Receiver
  /** Resolves when the stream is gone, whoever ended it. */
  closed: Promise<void> = Promise.resolve()
  readonly #thing: Thing
  #lastId: string | undefined
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
        ...(this.#lastId !== undefined && { 'last-event-id': this.#lastId }),
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
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const piece of body) {
        const events = (text + decoder.decode(piece, { stream: true })).split('\n\n')
        text = events.pop() ?? ''
        for (const event of events) this.#take(event)
      }
    } catch {
      // The connection is gone.
    }
  }

  #take(event: string): void {
    const fields = new Map(
      event.split('\n').map(line => {
        const [name = '', ...rest] = line.split(': ')
        return [name, rest.join(': ')] as const
      }),
    )
    this.#lastId = fields.get('id') ?? this.#lastId
    const kind = fields.get('event')
    if (kind === 'values') this.receiver.take(valueIn(fields.get('data') ?? ''))
    else if (kind !== undefined) this.receiver.breach(`event: ${kind}`)
  }
}
