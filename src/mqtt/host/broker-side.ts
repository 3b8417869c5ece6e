import { Duplex } from 'node:stream'

/** Members of a socket, of TCP or of TLS, that say who is at its other end and how. */
const socketMembers =
  'remoteAddress remotePort remoteFamily localAddress localPort localFamily bytesRead bytesWritten ' +
  'encrypted authorized authorizationError servername alpnProtocol ' +
  'address getPeerCertificate getPeerX509Certificate getCertificate getProtocol getCipher'

/** Bytes that the broker may leave unread before the client is not read any more. */
const mostUnread = 16 * 1024

export interface BrokerSideHandlers {
  /** The broker has read what it was given, and can take more. */
  onRoom(): void
  /** What the broker has for the client. @returns what is to be sent of it now */
  onAnswer(bytes: Buffer): Buffer | undefined
  /** The broker has closed the connection. @param error undefined: it was asked to */
  onClosed(error: Error | null): void
}

/**
 * What a broker takes for the socket of a client. What is pushed here it reads, and what it writes goes to the client as far as
 * its handlers let it. The hooks of a host read of it what they would read of the socket.
 */
export class BrokerSide extends Duplex {
  readonly #socket: Duplex
  readonly #handlers: BrokerSideHandlers

  constructor(socket: Duplex, handlers: BrokerSideHandlers) {
    super({ highWaterMark: mostUnread })
    this.#socket = socket
    this.#handlers = handlers
  }

  /** Whether the broker reads what it is given. */
  get hasRoom(): boolean {
    return this.readableLength < this.readableHighWaterMark
  }

  override _read(): void {
    this.#handlers.onRoom()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#answer(chunk, callback)
  }

  override _writev(chunks: { chunk: Buffer }[], callback: () => void): void {
    this.#answer(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback)
  }

  #answer(bytes: Buffer, callback: () => void): void {
    const answer = this.#handlers.onAnswer(bytes)
    // A broker waits for a client that does not read, and gives it up.
    if (!answer || this.#socket.destroyed || this.#socket.write(answer)) callback()
    else this.#socket.once('drain', callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#handlers.onClosed(error)
    callback(error)
  }

  static {
    for (const name of socketMembers.split(' ')) {
      Object.defineProperty(BrokerSide.prototype, name, {
        get(this: BrokerSide): unknown {
          const value: unknown = Reflect.get(this.#socket, name)
          return typeof value === 'function' ? value.bind(this.#socket) : value
        },
      })
    }
  }
}
