import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Turn, Turns } from '../core/turns.ts'

/** Keeps pipelined writes of one connection in the order in which they arrived. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Turns>()
  readonly #turns = new WeakMap<IncomingMessage, Turn>()

  /** To be called as soon as the head of a write is there. */
  arrive(message: IncomingMessage, response: ServerResponse): void {
    const turn = this.#turnsOf(message.socket).take()
    this.#turns.set(message, turn)
    // A write that was refused on its way never hands anything over.
    response.once('close', () => turn.done())
  }

  #turnsOf(socket: Socket): Turns {
    const known = this.#connections.get(socket)
    if (known) return known
    const turns = new Turns()
    this.#connections.set(socket, turns)
    return turns
  }

  /** Of a write that has arrived: it comes when every earlier one of the connection was handed over or refused. */
  turnOf(message: IncomingMessage): Turn {
    const turn = this.#turns.get(message)
    if (!turn) throw new TypeError('the write has not arrived')
    return turn
  }
}
