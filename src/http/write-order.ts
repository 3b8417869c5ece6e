import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Place {
  readonly before: Promise<void>
  readonly leave: () => void
}

/**
 * Keeps pipelined writes of one connection in the order in which they arrived (contract §4, order), though each
 * looks up its credential on its own.
 */
export class WriteOrder {
  readonly #newest = new WeakMap<Socket, Promise<void>>()
  readonly #places = new WeakMap<IncomingMessage, Place>()

  /** To be called as soon as the head of a write is there. */
  arrive(message: IncomingMessage, response: ServerResponse): void {
    const before = this.#newest.get(message.socket) ?? Promise.resolve()
    let leave = () => {}
    this.#newest.set(
      message.socket,
      new Promise(resolve => {
        leave = resolve
      }),
    )
    this.#places.set(message, { before, leave })
    // A write that was refused on its way never hands anything over.
    response.once('close', leave)
  }

  /** Resolves when every earlier write of the connection was handed over or refused; gives how to say so of this one. */
  async turn(message: IncomingMessage): Promise<() => void> {
    const place = this.#places.get(message)
    await place?.before
    return () => place?.leave()
  }
}
