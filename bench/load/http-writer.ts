import { RawConnection } from './raw-connection.ts'

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
  readonly #connection: RawConnection

  constructor(setup: HttpWriterSetup) {
    this.#setup = setup
    const { name, host, port } = setup
    const onBytes = (bytes: Buffer, length: number) => this.#take(bytes, length)
    this.#connection = new RawConnection({ name, host, port, room, onBytes })
  }

  async connect(): Promise<void> {
    await this.#connection.until('connected')
  }

  send(): void {
    this.sent++
    this.#connection.write(this.#setup.request)
  }

  end(): Promise<void> {
    return this.#connection.end()
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
