import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Turn, Turns } from '../core/turns.ts'

/** Keeps pipelined writes of one connection in the order in which they arrived. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Turns>()
  readonly #turns = new WeakMap<IncomingMessage, Turn>()

  /** To be called as soon as the head of a write is there. */
  arrive(message: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(message.socket) ?? new Turns()
    this.#connections.set(message.socket, connection)
    const turn = connection.take()
    this.#turns.set(message, turn)
    // A write that was refused on its way never hands anything over.
    response.once('close', turn.done)
  }

  /** Resolves when every earlier write of the connection was handed over or refused; gives how to say so of this one. */
  async turn(message: IncomingMessage): Promise<() => void> {
    const turn = this.#turns.get(message)
    await turn?.mine
    return () => turn?.done()
  }
}
