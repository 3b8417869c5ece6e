import { type OnAcked, RawConnection, type Writer } from './raw-connection.ts'
import type { HttpWrites } from './writes.ts'

const headEnd = '\r\n\r\n'
const contentLength = /\r\ncontent-length: *(\d+)/i
/** The status stands behind `HTTP/1.1 `. */
const statusAt = 9
/** The largest response, bytes. */
const room = 65_536

interface HttpWriterSetup extends Pick<HttpWrites, 'host' | 'body'> {
  /** In errors. */
  readonly name: string
  readonly port: number
  readonly path: string
  readonly onAcked: OnAcked<HttpWriter>
}

/** A connection that sends one request again and again, each when the one before was answered. Everything wrong is thrown. */
export class HttpWriter implements Writer {
  sent = 0
  acked = 0
  readonly window = 1
  readonly writes = 1
  readonly #setup: HttpWriterSetup
  readonly #request: Buffer
  readonly #connection: RawConnection

  constructor(setup: HttpWriterSetup) {
    this.#setup = setup
    this.#request = encodeRequest(setup)
    const { name, host, port } = setup
    const onBytes = (bytes: Buffer, length: number) => this.#take(bytes, length)
    this.#connection = new RawConnection({ name, host, port, room, onBytes })
  }

  async connect(): Promise<void> {
    await this.#connection.until('connected')
  }

  send(): void {
    this.sent++
    this.#connection.write(this.#request)
  }

  end(): Promise<void> {
    return this.#connection.end()
  }

  #take(bytes: Buffer, length: number): number {
    const { name, onAcked } = this.#setup
    // An earlier response may stand behind this one.
    const headLength = bytes.subarray(0, length).indexOf(headEnd)
    if (headLength === -1) return 0
    const head = bytes.toString('latin1', 0, headLength)
    const bodyAt = headLength + headEnd.length
    const end = bodyAt + Number(contentLength.exec(head)?.[1])
    if (Number.isNaN(end)) throw new Error(`${name}: a response without Content-Length: ${head}`)
    if (end > length) return 0
    if (end < length) throw new Error(`${name}: more than a response was received`)
    const status = head.slice(statusAt, statusAt + 3)
    if (status !== '201')
      throw new Error(`${name}: answered with ${status}: ${bytes.toString('utf8', bodyAt, end)}`)
    this.acked++
    onAcked(this, 1)
    return end
  }
}

function encodeRequest({ host, port, path, body }: HttpWriterSetup): Buffer {
  const length = Buffer.byteLength(body)
  const headers = `Host: ${host}:${port}\r\nContent-Type: application/json\r\nContent-Length: ${length}`
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
}
