import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Turn, Turns } from '../core/turns.ts'

/** Keeps pipelined writes of one connection in the order in which they arrived. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Turns>()
  readonly #turn = Symbol('turn of a write')

  /** @param scope of the requests */
  constructor(scope: FastifyInstance) {
    scope.decorateRequest(this.#turn, null)
  }

  /** To be called as soon as the head of a write is there. */
  arrive(request: FastifyRequest, reply: FastifyReply): void {
    const turn = this.#turnsOf(request.raw.socket).take()
    request.setDecorator(this.#turn, turn)
    // A write that was refused on its way never hands anything over.
    reply.raw.on('close', () => turn.done())
  }

  #turnsOf(socket: Socket): Turns {
    const known = this.#connections.get(socket)
    if (known) return known
    const turns = new Turns()
    this.#connections.set(socket, turns)
    return turns
  }

  /** Of a write that has arrived: it comes when every earlier one of the connection was handed over or refused. */
  turnOf(request: FastifyRequest): Turn {
    return request.getDecorator<Turn>(this.#turn)
  }
}
