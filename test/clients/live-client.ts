import type { ServerProcess } from '../helpers/server-process.ts'
import type { Inbox } from './inbox.ts'

/** What a subscriber asks for. */
export interface Subscribing {
  readonly filters: readonly string[]
  readonly qos: 0 | 1 | 2
  readonly username?: string
  readonly password?: string
  /** Of a persistent session; absent: a clean one. */
  readonly clientId?: string
  /** How many messages it takes before `leave` is called; for programs that are told so at their start. */
  readonly leavesAfter?: number
}

/** A subscriber that has its SUBACK. It is gone at the end of the test. */
export interface LiveSubscriber {
  readonly inbox: Inbox
  /** Says goodbye, and resolves when it is gone. */
  leave(): Promise<void>
}

/** A client program or library that nobody here wrote, over one transport or protocol version. */
export interface LiveClient {
  readonly name: string
  subscribe(server: ServerProcess, subscribing: Subscribing): Promise<LiveSubscriber>
}
