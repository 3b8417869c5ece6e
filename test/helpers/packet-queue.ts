import type { Packet } from 'mqtt-packet'

interface Waiting {
  readonly wanted: (packet: Packet) => boolean
  readonly take: (packet: Packet) => void
  readonly fail: (error: Error) => void
}

/** What was received on a connection, to be taken in any order by who waits for it. */
export class PacketQueue {
  /** Everything, taken or not. */
  readonly received: Packet[] = []
  readonly #deadline: number
  readonly #keeps: boolean
  readonly #waiting = new Set<Waiting>()
  readonly #untaken: Packet[] = []
  #end: Error | undefined

  /**
   * @param deadline how long each `next` may last, milliseconds
   * @param keeps whether what nobody waits for is kept
   */
  constructor(deadline: number, keeps = true) {
    this.#deadline = deadline
    this.#keeps = keeps
  }

  add(packet: Packet): void {
    if (this.#keeps) this.received.push(packet)
    for (const waiting of this.#waiting) {
      if (!waiting.wanted(packet)) continue
      waiting.take(packet)
      return
    }
    if (this.#keeps) this.#untaken.push(packet)
  }

  /** Nothing more will be received: who waits, waits in vain. */
  end(error: Error): void {
    this.#end ??= error
    for (const waiting of this.#waiting) waiting.fail(this.#end)
  }

  /** Takes the first packet that is wanted. @throws Error at the end of the connection, or past the deadline */
  next(wanted: (packet: Packet) => boolean): Promise<Packet> {
    const index = this.#untaken.findIndex(wanted)
    const [packet] = index === -1 ? [] : this.#untaken.splice(index, 1)
    if (packet) return Promise.resolve(packet)
    if (this.#end) return Promise.reject(this.#end)
    // By the time that it is overdue, nothing says any more who waits. Clients of a load, which keep nothing, do not pay for it.
    const asked = this.#keeps ? new Error('it was asked for here') : undefined
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
      }
      const waiting: Waiting = {
        wanted,
        take: taken => {
          done()
          resolve(taken)
        },
        fail: error => {
          done()
          reject(error)
        },
      }
      const timer = setTimeout(() => waiting.fail(this.#overdue(asked)), this.#deadline)
      this.#waiting.add(waiting)
    })
  }

  #overdue(cause: Error | undefined): Error {
    const last = this.received.slice(-5).map(({ cmd, messageId }) => `${cmd} ${messageId ?? ''}`.trim())
    return new Error(
      `nothing of the kind was received in ${this.#deadline} ms; last: ${last.join(', ') || 'nothing'}`,
      cause && { cause },
    )
  }
}
