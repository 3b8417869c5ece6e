import { Changes } from '../helpers/changes.ts'
import { StreamClient } from './stream-client.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: string
  /** `lastEventId` as the page would see it with the event. */
  readonly lastEventId: string
}

/** Takes a text/event-stream apart as the HTML standard says (9.2.6). */
export class EventParser {
  /** What an EventSource sends when it connects again. */
  lastEventId: string
  readonly events: ServerEvent[] = []
  /** Lines that were comments. */
  comments = 0
  #rest = ''
  #event = ''
  #data: string[] = []
  #id: string

  constructor(lastEventId = '') {
    this.lastEventId = lastEventId
    this.#id = lastEventId
  }

  feed(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  #take(line: string): void {
    if (line === '') {
      this.#dispatch()
      return
    }
    if (line.startsWith(':')) {
      this.comments++
      return
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
    if (field === 'event') this.#event = value ?? ''
    else if (field === 'data') this.#data.push(value ?? '')
    else if (field === 'id') this.#id = value ?? ''
    else throw new Error(`no field of an event: ${line}`)
  }

  #dispatch(): void {
    this.lastEventId = this.#id
    const data = this.#data.join('\n')
    if (data !== '') this.events.push({ event: this.#event, data, lastEventId: this.lastEventId })
    this.#event = ''
    this.#data = []
  }
}

/** An EventSource on a bare socket, which can be cut anywhere. */
export class EventSource {
  readonly client: StreamClient
  readonly parser: EventParser
  #taken = 0
  readonly #changes = new Changes()

  private constructor(client: StreamClient, parser: EventParser) {
    this.client = client
    this.parser = parser
  }

  /** @param lastEventId '': none is sent @param budget bytes of events that are taken before the connection is cut */
  static async open(
    url: string,
    lastEventId = '',
    budget = Number.POSITIVE_INFINITY,
    others: Readonly<Record<string, string>> = {},
  ): Promise<EventSource> {
    const parser = new EventParser(lastEventId)
    const resume = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
    let left = budget
    const take = (chunk: string) => {
      const text = chunk.slice(0, left)
      left -= text.length
      parser.feed(Buffer.from(text, 'latin1').toString())
      source.#changes.tell()
      if (left <= 0) client.socket.destroy()
    }
    const client: StreamClient = await StreamClient.open(
      url,
      { accept: 'text/event-stream', ...resume, ...others },
      take,
    )
    const source: EventSource = new EventSource(client, parser)
    void client.closed.then(() => source.#changes.tell())
    return source
  }

  get lastEventId(): string {
    return this.parser.lastEventId
  }

  /** The next event. @throws Error if the connection ends before */
  async next(): Promise<ServerEvent> {
    await this.until(() => this.parser.events.length > this.#taken)
    return this.parser.events[this.#taken++] as ServerEvent
  }

  /** Resolves when what was received makes it true. @throws Error if the connection ends before */
  async until(isReached: () => boolean): Promise<void> {
    await this.#changes.until(() => isReached() || this.client.socket.destroyed)
    if (!isReached()) throw new Error('the stream has ended')
  }

  /** Resolves when the client knows from where to resume. */
  async identified(): Promise<void> {
    await this.until(() => this.lastEventId !== '')
  }

  async destroy(): Promise<void> {
    await this.client.destroy()
  }
}
