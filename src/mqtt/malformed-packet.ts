/** A packet that breaks MQTT 3.1.1: it ends the connection (MQTT-4.8.0-1). */
export class MalformedPacket extends Error {
  /** To be sent before. */
  readonly answer: Uint8Array | undefined

  constructor(message: string, answer?: Uint8Array) {
    super(message)
    this.name = 'MalformedPacket'
    this.answer = answer
  }
}
