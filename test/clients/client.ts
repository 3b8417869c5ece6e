import { Changes } from '../helpers/changes.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** How long a message is waited for, milliseconds. */
const deadline = 20_000

type QoS = 0 | 1 | 2

/** Of MQTT: 4 is 3.1.1. */
export type Version = 4 | 5

/** How long a session of version 5 is kept, seconds; those of 3.1.1 have no such choice. */
export const sessionExpiry = 3_600

/** A PUBLISH as a client has it. */
export interface Message {
  readonly topic: string
  readonly payload: string
  readonly qos: number
  readonly retain: boolean
}

export interface Outgoing {
  readonly topic: string
  readonly payload: string | Buffer
  readonly qos: QoS
  /** Default: false. */
  readonly retain?: boolean
}

/** What a subscriber asks for. */
export interface Subscribing {
  readonly filters: readonly string[]
  readonly qos: QoS
  readonly username?: string
  readonly password?: string
  /** Of a persistent session; absent: a clean one. */
  readonly clientId?: string
  /** Whether the session of its client id, too, begins anew and ends with the connection. Default: false. */
  readonly clean?: boolean
  readonly will?: Outgoing & { readonly payload: string }
  /** Whether it comes back when its connection breaks, for programs that would end. Default: false. */
  readonly returns?: boolean
  /** How payloads are put into the inbox. Default: utf8. */
  readonly encoding?: 'utf8' | 'hex'
  /** After how many messages `leave` is called, for programs that take it as an argument. */
  readonly leavesAfter?: number
}

/** A subscriber that has its SUBACK. It is gone at the end of the test. */
export interface Subscriber {
  readonly inbox: Inbox
  /** What SUBACK says of each filter: its QoS, or 128 for a refused one. */
  readonly granted: readonly number[]
  /** Ends the connection with a DISCONNECT, and resolves when the client is gone. */
  leave(): Promise<void>
  /** Ends the connection without a DISCONNECT. */
  kill(): Promise<void>
}

/** A client program or library that nobody here wrote, over one transport or protocol version. */
export interface LiveClient {
  readonly name: string
  subscribe(server: ServerProcess, subscribing: Subscribing): Promise<Subscriber>
}

/**
 * Publishes in order with a thing's token, and resolves when QoS 1 and 2 are acknowledged and the client is gone.
 *
 * @param version default: 4
 * @throws Error if a message is refused in its ack, where the client shows that
 */
export type Publish = (
  server: ServerProcess,
  token: string,
  messages: readonly Outgoing[],
  version?: Version,
) => Promise<void>

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

  /** Resolves with all that was received once one is wanted. @throws Error past the deadline, or when nothing more comes */
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
