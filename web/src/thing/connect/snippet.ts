/** Where a device writes to, and as which thing. */
export interface Endpoint {
  /** Name or address of the server, as the device reaches it. */
  readonly host: string
  readonly mqttPort: number
  /** Origin of the HTTP door, without a slash at its end. */
  readonly httpUrl: string
  /** The thing's token, or what stands in its place. */
  readonly token: string
}

/**
 * A program that writes a reading, ready to be pasted. Over MQTT the token is the user name, so that a wrong one is answered
 * with CONNACK 4. A program with a clock sends `datetime`, one without a clock sends an `id`.
 */
export interface Snippet {
  readonly name: string
  /** What to install or where to paste it. */
  readonly needs: string
  /**
   * Which delivery it has, and what makes a resend harmless (contract §4). Of a program that the tests cannot run, that it is
   * none that they run: it promises what the documents of its libraries say.
   */
  readonly delivery: string
  /** What to change where MQTT goes over TLS; absent for HTTP, whose address says it. */
  readonly tls?: string
  readonly text: (endpoint: Endpoint) => string
}
