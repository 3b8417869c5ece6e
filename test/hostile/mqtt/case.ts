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

/** Cases in which the connection ends without another word. */
export function closing(
  rows: Readonly<Record<string, readonly Uint8Array[]>>,
  answers: readonly string[] = ['connack 0'],
): MqttCase[] {
  return Object.entries(rows).map(([name, sends]) => ({ name, sends, answers, outcome: 'closed' }))
}

/** Cases that are answered, and leave the connection as it is. */
export function answering(
  rows: readonly [name: string, sends: readonly Uint8Array[], ...answers: string[]][],
): MqttCase[] {
  return rows.map(([name, sends, ...answers]) => ({ name, sends, answers, outcome: 'open' }))
}
