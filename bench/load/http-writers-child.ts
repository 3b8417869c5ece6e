import { Gathering } from './gathering.ts'
import { HttpWriter } from './http-writer.ts'
import type { HttpWrites } from './http-writers.ts'
import { inTurn, type Load, type Recorders, runLoad } from './measured-load.ts'
import { OpenLoop } from './open-loop.ts'

/** Posts, in a process of its own, what `writeHttp` says. */

/** Of a request to any server: less than has been seen of one, milliseconds. */
const leastCost = 0.005

runLoad((writes: HttpWrites, recorders) =>
  writes.rate === undefined ? new ClosedHttpLoad(writes) : new OpenHttpLoad(writes, writes.rate, recorders),
)

abstract class HttpLoad implements Load {
  protected readonly writers: readonly HttpWriter[]
  protected isStopped = false

  constructor(writes: HttpWrites) {
    const { host, ports, paths, expectedStatus } = writes
    this.writers = Array.from({ length: writes.connections }, (_, index) => {
      const port = inTurn(ports, index)
      const request = encodeRequest(writes, port, inTurn(paths, index))
      const onAnswered = (writer: HttpWriter) => this.onAnswered(writer)
      return new HttpWriter({ name: `connection ${index}`, host, port, expectedStatus, request, onAnswered })
    })
  }

  get sent(): number {
    return this.writers.reduce((sum, { sent }) => sum + sent, 0)
  }

  get acked(): number {
    return this.writers.reduce((sum, { answered }) => sum + answered, 0)
  }

  async connect(): Promise<void> {
    await Promise.all(this.writers.map(writer => writer.connect()))
  }

  abstract start(): void

  stop(): void {
    this.isStopped = true
  }

  async close(): Promise<void> {
    await Promise.all(this.writers.map(writer => writer.end()))
  }

  protected abstract onAnswered(writer: HttpWriter): void
}

/** Each connection always has a request on its way. */
class ClosedHttpLoad extends HttpLoad {
  readonly #gathering: Gathering

  constructor(writes: HttpWrites) {
    super(writes)
    this.#gathering = Gathering.ofAcks(writes.connections, leastCost)
  }

  start(): void {
    for (const writer of this.writers) writer.send()
  }

  protected onAnswered(writer: HttpWriter): void {
    if (this.isStopped) return
    writer.send()
    this.#gathering.onAnswered()
  }
}

/** At times of its own; a write that finds no connection free waits for one, and that is part of its latency. */
class OpenHttpLoad extends HttpLoad {
  readonly #recorders: Recorders
  readonly #loop: OpenLoop
  /** That which waits for the longest is first: so all are used alike. */
  readonly #idle: HttpWriter[]
  /** When the writes that wait were due. */
  readonly #waiting: number[] = []

  constructor(writes: HttpWrites, rate: number, recorders: Recorders) {
    super(writes)
    this.#recorders = recorders
    this.#idle = [...this.writers]
    this.#loop = new OpenLoop(rate, due => {
      this.#waiting.push(due)
      this.#sendWaiting()
    })
  }

  start(): void {
    this.#loop.start()
  }

  override stop(): void {
    super.stop()
    this.#loop.stop()
  }

  protected onAnswered(writer: HttpWriter): void {
    writer.idleSince = performance.now()
    this.#recorders.latency.record(writer.due, writer.idleSince)
    this.#idle.push(writer)
    this.#sendWaiting()
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0) {
      const writer = this.#idle.shift()
      if (writer === undefined) return
      const due = this.#waiting.shift() ?? 0
      writer.due = due
      writer.send()
      this.#recorders.lateness.record(due, performance.now(), Math.max(due, writer.idleSince))
    }
  }
}

function encodeRequest({ host, headers, body }: HttpWrites, port: number, path: string): Buffer {
  const all = { host: `${host}:${port}`, 'content-length': String(Buffer.byteLength(body)), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}
