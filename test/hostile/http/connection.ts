import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Changes } from '../../helpers/changes.ts'
import { type HttpAnswer, readAnswers } from './answers.ts'

/** A connection on which bytes are sent as they are, and answers are awaited. */
export class RawConnection {
  readonly #socket: Socket
  readonly #deadline: number
  #received = Buffer.alloc(0)
  #closed = false
  readonly #changes = new Changes()

  private constructor(socket: Socket, deadline: number) {
    this.#socket = socket
    this.#deadline = deadline
    socket.on('data', bytes => {
      this.#received = Buffer.concat([this.#received, bytes])
      this.#changes.tell()
    })
    // A reset is an end, and what came before it counts.
    socket.on('error', () => {})
    socket.once('close', () => this.#end())
    socket.once('end', () => this.#end())
  }

  /** @param deadline how long every wait may last, milliseconds */
  static async open(url: string, deadline = 20_000): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    // The server's end of the connection must not end what is still being sent.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    await once(socket, 'connect')
    return new RawConnection(socket, deadline)
  }

  send(bytes: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes)
  }

  /** Sends no more. */
  end(): void {
    this.#socket.end()
  }

  /** All that came. */
  get received(): Buffer {
    return this.#received
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Resolves when there are so many answers, or the connection is closed. @throws Error past the deadline */
  async answers(count: number): Promise<readonly HttpAnswer[]> {
    const answers = () => readAnswers(this.#received).answers
    await this.#until(() => this.#closed || answers().length >= count, `${count} answers`)
    return answers()
  }

  /** Resolves when the server has closed. @throws Error past the deadline */
  async closed(): Promise<void> {
    await this.#until(() => this.#closed, 'the server closes')
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #end(): void {
    this.#closed = true
    this.#changes.tell()
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    if (!(await this.#changes.until(isSo, this.#deadline))) throw new Error(`not in time: ${what}`)
  }
}
