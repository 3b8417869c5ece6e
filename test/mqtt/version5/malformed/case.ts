import { type Bytes, hex } from './bytes.ts'

/** One packet, and what the server must say of it. */
export interface Case {
  readonly name: string
  /** Whether it is a CONNECT; otherwise a CONNECT that is accepted comes before it. */
  readonly isFirst: boolean
  /** Session Expiry Interval of the CONNECT before it. Default: none. */
  readonly sessionExpiry?: number
  /** The packet, and what the client sends behind it. */
  readonly bytes: Uint8Array
  /** What the server sends from then on, up to its end: see `outcomeOf` of conversation.ts. */
  readonly outcome: string
  /** What it may send as well, where the standard leaves a choice. */
  readonly or?: string
}

/** Names of groups and their cases. */
export type Groups = Readonly<Record<string, readonly Case[]>>

export type Code = 0x81 | 0x82 | 0x8c | 0x94 | 0x95
export const [malformed, protocolError] = [0x81, 0x82] as const

/** A CONNECT is refused with CONNACK, another packet with DISCONNECT; the server then ends the connection (4.13.1). */
export function refusal(code: Code, isFirst = false): string {
  return `${isFirst ? 'CONNACK' : 'DISCONNECT'} ${hex(code)}, FIN`
}

/** What the client gets for a packet and the PINGREQ behind it. */
export function acceptance(answer = ''): string {
  return answer === '' ? 'PINGRESP, FIN' : `${answer}, PINGRESP, FIN`
}

/** A packet behind CONNECT. A PINGREQ behind it finds out whether the server goes on. */
export function later(name: string, bytes: Uint8Array, outcome: string, more: Partial<Case> = {}): Case {
  return { name, isFirst: false, bytes: withPing(bytes), outcome, ...more }
}

/** A CONNECT. */
export function first(name: string, bytes: Uint8Array, outcome: string, more: Partial<Case> = {}): Case {
  return { name, isFirst: true, bytes: withPing(bytes), outcome, ...more }
}

/** A packet behind which nothing is sent, since it announces more than there is or says good-bye. */
export function alone(
  name: string,
  bytes: Uint8Array | Bytes,
  outcome: string,
  more: Partial<Case> = {},
): Case {
  return { name, isFirst: false, bytes: Buffer.from(bytes), outcome, ...more }
}

function withPing(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.from([0xc0, 0])])
}
