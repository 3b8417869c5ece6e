import type { Packet } from 'mqtt-packet'

/** Somebody who waits is offered a packet, or the error that ends the wait. @returns whether it is taken */
type Offer = (offered: Packet | Error) => boolean

/** What was received on a connection, to be taken in any order by who waits for it. */
export class PacketQueue {
  /** Everything, taken or not. */
  readonly received: Packet[] = []
  readonly #deadline: number
  readonly #keeps: boolean
  readonly #waiting = new Set<Offer>()
  readonly #untaken: Packet[] = []
  #end: Error | undefined

  /** @param deadline how long each `next` may last, milliseconds @param keeps whether what nobody waits for is kept */
  constructor(deadline: number, keeps: boolean) {
    this.#deadline = deadline
    this.#keeps = keeps
  }

  add(packet: Packet): void {
    if (this.#keeps) this.received.push(packet)
    for (const offer of this.#waiting) if (offer(packet)) return
    if (this.#keeps) this.#untaken.push(packet)
  }

  /** Nothing more will be received: who waits, waits in vain. */
  end(error: Error): void {
    this.#end ??= error
    for (const offer of this.#waiting) offer(this.#end)
  }

  /** Takes the first packet that is wanted. @throws Error at the end of the connection, or past the deadline */
  next(wanted: (packet: Packet) => boolean): Promise<Packet> {
    const index = this.#untaken.findIndex(wanted)
    const [packet] = index === -1 ? [] : this.#untaken.splice(index, 1)
    if (packet) return Promise.resolve(packet)
    if (this.#end) return Promise.reject(this.#end)
    // By the time that it is overdue, nothing says any more who waits. Clients of a load, which keep nothing, do not pay for it.
    const cause = this.#keeps ? new Error('it was asked for here') : undefined
    return new Promise((resolve, reject) => {
      const offer: Offer = offered => {
        if (!(offered instanceof Error) && !wanted(offered)) return false
        clearTimeout(timer)
        this.#waiting.delete(offer)
        if (offered instanceof Error) reject(offered)
        else resolve(offered)
        return true
      }
      const timer = setTimeout(() => {
        const last = this.received.slice(-5).map(({ cmd, messageId }) => `${cmd} ${messageId ?? ''}`.trim())
        const late = `nothing of the kind was received in ${this.#deadline} ms; last: ${last.join(', ') || 'nothing'}`
        offer(new Error(late, cause && { cause }))
      }, this.#deadline)
      this.#waiting.add(offer)
    })
  }
}
