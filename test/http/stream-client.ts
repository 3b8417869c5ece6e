import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { Changes } from '../helpers/changes.ts'

/** A client of a stream on a bare socket: sees every byte, and takes the answer apart itself. */
export class StreamClient {
  readonly socket: Socket
  /** Resolves when the connection is gone: whether the answer was complete by then. */
  readonly closed: Promise<'complete' | 'cut'>
  #head: string | undefined
  /** What was received and not yet taken apart, as latin1. */
  #rest = ''
  readonly #chunks: string[] = []
  #isComplete = false
  #isClosed = false
  readonly #changes = new Changes()
  readonly #onChunk: ((chunk: string) => void) | undefined

  private constructor(socket: Socket, onChunk?: (chunk: string) => void) {
    this.socket = socket
    this.#onChunk = onChunk
    socket.on('data', bytes => {
      this.#take(bytes.toString('latin1'))
      this.#changes.tell()
    })
    socket.on('error', () => {})
    this.closed = new Promise(resolve => {
      socket.once('close', () => {
        this.#isClosed = true
        this.#changes.tell()
        resolve(this.#isComplete ? 'complete' : 'cut')
      })
    })
  }

  /** Asks for a stream. @param onChunk takes the chunks instead of `next`; resolves before the head is there */
  static async open(
    url: string,
    headers: Readonly<Record<string, string>> = {},
    onChunk?: (chunk: string) => void,
  ): Promise<StreamClient> {
    const { hostname, port, pathname, search } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const client = new StreamClient(socket, onChunk)
    const lines = Object.entries({ host: hostname, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
    return client
  }

  /** Status line and headers. */
  async head(): Promise<string> {
    await this.#until(() => this.#head !== undefined)
    return this.#head ?? ''
  }

  /** The next chunk of the answer, as text. @throws Error if there is none to come */
  async next(): Promise<string> {
    await this.#until(() => this.#chunks.length > 0)
    return Buffer.from(this.#chunks.shift() ?? '', 'latin1').toString()
  }

  async destroy(): Promise<void> {
    this.socket.destroy()
    await this.closed
  }

  async #until(isReached: () => boolean): Promise<void> {
    await this.#changes.until(() => isReached() || this.#isClosed)
    if (!isReached()) throw new Error(`the stream has ended: ${this.#head}${this.#rest}`)
  }

  #take(text: string): void {
    this.#rest += text
    if (this.#head === undefined) {
      const end = this.#rest.indexOf('\r\n\r\n')
      if (end === -1) return
      this.#head = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + 4)
    }
    if (!/^transfer-encoding: chunked$/im.test(this.#head)) return
    for (;;) {
      const size = /^([\da-f]+)\r\n/i.exec(this.#rest)
      if (!size) return
      const start = size[0].length
      const length = Number.parseInt(size[1] ?? '', 16)
      if (this.#rest.length < start + length + 2) return
      const chunk = this.#rest.slice(start, start + length)
      if (this.#rest.slice(start + length, start + length + 2) !== '\r\n')
        throw new Error('a chunk is not closed')
      this.#rest = this.#rest.slice(start + length + 2)
      if (length === 0) this.#isComplete = true
      else if (this.#onChunk) this.#onChunk(chunk)
      else this.#chunks.push(chunk)
    }
  }
}

/** Opens a stream that is closed at the end of the test. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamClient> {
  const client = await StreamClient.open(url, headers)
  onTestFinished(() => {
    client.socket.destroy()
  })
  return client
}
