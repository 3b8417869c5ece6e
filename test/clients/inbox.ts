import { Changes } from '../helpers/changes.ts'

/** How long is waited for a message, milliseconds. */
const deadline = 20_000

/** A PUBLISH as a client has it. */
export interface Message {
  readonly topic: string
  readonly payload: string
  readonly qos: number
  readonly retain: boolean
}

/** The value of the record that a message on `values/<key>` is about. */
export function recordValue({ payload }: Message): unknown {
  return (JSON.parse(payload) as { value: unknown }).value
}

/** What a subscriber has received, in order. */
export class Inbox {
  readonly #messages: Message[] = []
  readonly #changes = new Changes()
  #end: Error | undefined

  get messages(): readonly Message[] {
    return this.#messages
  }

  add(message: Message): void {
    this.#messages.push(message)
    this.#changes.tell()
  }

  /** Nothing more will come. */
  end(error: Error): void {
    this.#end = error
    this.#changes.tell()
  }

  /**
   * Resolves with all that was received once there is a message that is wanted.
   *
   * @throws Error past the deadline, or when nothing more will come
   */
  async until(isWanted: (message: Message) => boolean): Promise<readonly Message[]> {
    await this.#whenever(() => this.#messages.some(isWanted))
    return this.#messages
  }

  /** Resolves with the first `count` messages. @throws Error as `until` */
  async first(count: number): Promise<readonly Message[]> {
    await this.#whenever(() => this.#messages.length >= count)
    return this.#messages.slice(0, count)
  }

  async #whenever(isThere: () => boolean): Promise<void> {
    await this.#changes.until(() => isThere() || this.#end !== undefined, deadline)
    if (isThere()) return
    if (this.#end) throw this.#end
    const last = JSON.stringify(this.#messages.slice(-3))
    throw new Error(`not received in ${deadline} ms; the last of ${this.#messages.length}: ${last}`)
  }
}
