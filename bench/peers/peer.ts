/** What a load is sent to: the product, or what it is held against. Everything is on this machine, on a free port. */
export interface Peer {
  /** Of MQTT, or of HTTP where the peer speaks nothing else. */
  readonly port: number
  /** Absent where the peer speaks MQTT only. */
  readonly httpPort?: number
  /** Whose processor time is the peer's, with their children: process ids by name. */
  readonly processes: Readonly<Record<string, number>>
  /** Resolves when its processes are gone and what it kept is removed. */
  stop(): Promise<void>
}

export const host = '127.0.0.1'

/** A peer cannot be started since the machine lacks a program; the message says how to install it. */
export class ProgramMissing extends Error {}
