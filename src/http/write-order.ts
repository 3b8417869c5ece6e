import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Turn, Turns } from '../core/turns.ts'

/** Under which a request has its turn. */
const turnKey = Symbol('turn of a write')
type Arrived = FastifyRequest & { [turnKey]?: Turn }

/** Keeps pipelined writes of one connection in the order in which they arrived. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Turns>()

  /** @param scope of the requests */
  constructor(scope: FastifyInstance) {
    scope.decorateRequest(turnKey, null)
  }

  /** To be called as soon as the head of a write is there. */
  arrive(request: Arrived, reply: FastifyReply): void {
    const turn = this.#turnsOf(request.raw.socket).take()
    request[turnKey] = turn
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
  turnOf(request: Arrived): Turn {
    const turn = request[turnKey]
    if (!turn) throw new TypeError('the write has not arrived')
    return turn
  }
}
