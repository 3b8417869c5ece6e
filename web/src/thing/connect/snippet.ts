/** Where a device writes, and as which thing. */
export interface Endpoint {
  /** Name or address at which the device reaches the server. */
  readonly host: string
  readonly mqttPort: number
  /** Origin of the HTTP door, without a trailing slash. */
  readonly httpUrl: string
  /** The thing's token, or the placeholder. */
  readonly token: string
}

/**
 * A program that writes a reading, ready to be pasted. Over MQTT the token is the user name, so that a wrong token is refused
 * with CONNACK 4. A program with a clock sends `datetime`, and a program without a clock sends an `id`.
 */
export interface Snippet {
  readonly name: string
  /** What to install or where to paste it. */
  readonly needs: string
  /**
   * The delivery guarantee, and why a resend has no effect (contract §4). If the tests cannot run the program, the text says so:
   * the guarantee then relies on the documentation of the libraries.
   */
  readonly delivery: string
  /** What to change for MQTT over TLS. Absent for HTTP, where only the URL is different. */
  readonly tls?: string
  readonly text: (endpoint: Endpoint) => string
}
