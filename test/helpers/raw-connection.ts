import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Changes } from './changes.ts'

/** A connection on which bytes are sent as they are, and whatever comes is awaited. */
export class RawConnection {
  readonly socket: Socket
  isClosed = false
  readonly #parts: string[] = []
  readonly #deadline: number
  readonly #changes = new Changes()

  private constructor(socket: Socket, deadline: number) {
    this.socket = socket
    this.#deadline = deadline
    socket.on('data', bytes => {
      this.#parts.push(bytes.toString('latin1'))
      this.#changes.tell()
    })
    // A reset is an end, and what came before it counts.
    socket.on('error', () => {})
    for (const end of ['close', 'end']) {
      socket.once(end, () => {
        this.isClosed = true
        this.#changes.tell()
      })
    }
  }

  /** @param url of the server @param deadline how long every wait may last, milliseconds */
  static async open(url: string, deadline = 20_000): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    // The server's end of the connection must not end what is still being sent.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    await once(socket, 'connect')
    return new RawConnection(socket, deadline)
  }

  /** All that came, as Latin-1. */
  get text(): string {
    return this.#parts.join('')
  }

  send(bytes: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(bytes)
  }

  /** Resolves with all that came when this text is in it. @throws Error past the deadline */
  async received(wanted: string): Promise<string> {
    let [tail, seen] = ['', 0]
    // Of what is 20 MB not all is looked through at each part.
    const hasCome = () => {
      tail += this.#parts.slice(seen).join('')
      seen = this.#parts.length
      const isThere = tail.includes(wanted)
      if (!isThere) tail = tail.slice(-wanted.length)
      return isThere
    }
    await this.until(hasCome, wanted)
    return this.text
  }

  /** Resolves with all that came when the server has closed. @throws Error past the deadline */
  async closed(): Promise<string> {
    await this.until(() => this.isClosed, 'the server closes')
    return this.text
  }

  /** @throws Error past the deadline */
  async until(isSo: () => boolean, what: string): Promise<void> {
    if (!(await this.#changes.until(isSo, this.#deadline))) throw new Error(`not in time: ${what}`)
  }
}
