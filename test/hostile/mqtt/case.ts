import { connect } from './bytes.ts'

/** One input of the hostile table, as raw bytes, and what must come back. */
export interface MqttCase {
  /** Says what is sent; no other case has it. */
  readonly name: string
  /** Packets, or what poses as such, on a fresh connection. */
  readonly sends: readonly Uint8Array[]
  /** In order, such as `connack 0`, `suback 7: 1 128`, `puback 7`; the last one may be `closed`. */
  readonly answers: readonly string[]
  /**
   * What holds behind the answers. `open`: a PINGREQ is answered, and before it nothing else; `closed`: by the server;
   * `unfinished`: the server waits for more, and closes when the client does.
   */
  readonly outcome: 'open' | 'closed' | 'unfinished'
}

/** A packet, or several. */
export type Packets = Uint8Array | readonly Uint8Array[]
/** Cases by name: what is sent, and what is answered. */
type Answered = Readonly<Record<string, readonly [Packets, ...answers: string[]]>>

/** Cases of what comes first, behind which the connection ends without an answer. */
export function refusing(rows: Readonly<Record<string, Packets>>, ...answers: readonly string[]): MqttCase[] {
  return Object.entries(rows).map(([name, sends]) => ({
    ...{ name, sends: [sends].flat(), answers },
    outcome: 'closed',
  }))
}

/** The same with a CONNACK of this code as the only answer. */
export function refusingWith(connack: number, rows: Readonly<Record<string, Packets>>): MqttCase[] {
  return refusing(rows, `connack ${connack}`)
}

/** Cases of what comes behind a good CONNECT, and ends the connection without another word. */
export function closing(rows: Readonly<Record<string, Packets>>, first = connect()): MqttCase[] {
  return refusingWith(0, rows).map(each => ({ ...each, sends: [first, ...each.sends] }))
}

/** Cases that begin with a CONNECT which is let in, are answered, and leave the connection as it is. */
export function admitting(rows: Answered): MqttCase[] {
  return Object.entries(rows).map(([name, [sends, ...answers]]) => ({
    ...{ name, sends: [sends].flat(), answers: ['connack 0', ...answers] },
    outcome: 'open',
  }))
}

/** The same of what comes behind a good CONNECT. */
export function answering(rows: Answered, first = connect()): MqttCase[] {
  return admitting(rows).map(each => ({ ...each, sends: [first, ...each.sends] }))
}

/** A row of each input. @param named its name, with `*` in place of that of the input, or of the input itself */
export function table<Input, Row>(
  named: string,
  inputs: Readonly<Record<string, Input>> | readonly Input[],
  rowOf: (input: Input) => Row,
): Readonly<Record<string, Row>> {
  const entries = Array.isArray(inputs)
    ? inputs.map((input: Input) => [input, input] as const)
    : Object.entries<Input>(inputs)
  return Object.fromEntries(
    entries.map(([name, input]) => [named.replace('*', () => `${name}`), rowOf(input)]),
  )
}
