import { once } from 'node:events'
import type { Socket } from 'node:net'
import { within } from '../../test/soak/within.ts'
import { openRawSocket } from './raw-socket.ts'

const headEnd = '\r\n\r\n'
const contentLength = /\r\ncontent-length: *(\d+)/i
/** The status stands behind `HTTP/1.1 `. */
const statusAt = 9
/** The largest response, bytes. */
const room = 65_536

export interface HttpWriterSetup {
  /** In errors. */
  readonly name: string
  readonly host: string
  readonly port: number
  /** Head and body. */
  readonly request: Buffer
  readonly expectedStatus: number
  readonly onAnswered: (writer: HttpWriter) => void
}

/** A connection that sends one request again and again, each when the one before was answered. Everything wrong is thrown. */
export class HttpWriter {
  sent = 0
  answered = 0
  /** When the request on its way was due, or when the last one was answered: milliseconds of `performance.now()`. */
  due = 0
  idleSince = 0
  readonly #setup: HttpWriterSetup
  readonly #socket: Socket
  #isEnding = false

  constructor(setup: HttpWriterSetup) {
    this.#setup = setup
    const { name, host, port } = setup
    this.#socket = openRawSocket({
      name,
      host,
      port,
      room,
      onBytes: (bytes, length) => this.#take(bytes, length),
    })
    this.#socket.once('close', () => {
      if (!this.#isEnding) throw new Error(`${name}: the connection was closed`)
    })
  }

  async connect(): Promise<void> {
    await within(once(this.#socket, 'connect'), `${this.#setup.name}: a connection`)
  }

  send(): void {
    this.sent++
    this.#socket.write(this.#setup.request)
  }

  async end(): Promise<void> {
    this.#isEnding = true
    const closed = once(this.#socket, 'close')
    this.#socket.end()
    await within(closed, `${this.#setup.name}: its end`)
  }

  #take(bytes: Buffer, length: number): number {
    // An earlier response may stand behind this one.
    const headLength = bytes.subarray(0, length).indexOf(headEnd)
    if (headLength === -1) return 0
    const head = bytes.toString('latin1', 0, headLength)
    const bodyAt = headLength + headEnd.length
    const end = bodyAt + Number(contentLength.exec(head)?.[1])
    if (Number.isNaN(end)) throw new Error(`${this.#setup.name}: a response without Content-Length: ${head}`)
    if (end > length) return 0
    if (end < length) throw new Error(`${this.#setup.name}: more than a response was received`)
    const status = Number(head.slice(statusAt, statusAt + 3))
    if (status !== this.#setup.expectedStatus) {
      throw new Error(`${this.#setup.name}: answered with ${status}: ${bytes.toString('utf8', bodyAt, end)}`)
    }
    this.answered++
    this.#setup.onAnswered(this)
    return end
  }
}
