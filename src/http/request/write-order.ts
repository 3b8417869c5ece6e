import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Turn, Turns } from '../../core/async/turns.ts'

/** Under which a request has its turn: a `WeakMap` by request took a tenth of the time of a write. */
const turnKey = Symbol('turn of a write')
type Arrived = FastifyRequest & { [turnKey]?: Turn }

interface Arrival {
  readonly turn: Turn
  readonly answer: ServerResponse
}

/** The writes of one connection. */
interface Arrivals {
  readonly turns: Turns
  /** The one that came last, until it is handed over. */
  newest: Arrival | undefined
}

/** Keeps pipelined writes of one connection in the order in which they arrived. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Arrivals>()

  /** @param scope of the requests */
  constructor(scope: FastifyInstance) {
    scope.decorateRequest(turnKey, null)
  }

  /** To be called as soon as the head of a write is there. */
  arrive(request: Arrived, { raw: answer }: FastifyReply): void {
    const arrivals = this.#arrivalsOf(request.raw.socket)
    const { turns, newest } = arrivals
    // Only what waits needs to know, and hardly any client sends a write before the one in front is answered.
    if (newest && !turns.isFree) doneWhenClosed(newest)
    const turn = turns.take()
    arrivals.newest = { turn, answer }
    request[turnKey] = turn
  }

  #arrivalsOf(socket: Socket): Arrivals {
    const known = this.#connections.get(socket)
    if (known) return known
    const arrivals = { turns: new Turns(), newest: undefined }
    this.#connections.set(socket, arrivals)
    return arrivals
  }

  /** Of a write that has arrived: it comes when every earlier one of the connection was handed over or refused. */
  turnOf(request: Arrived): Turn {
    const turn = request[turnKey]
    if (!turn) throw new TypeError('the write has not arrived')
    return turn
  }

  /** The write is handed over. */
  done(request: Arrived): void {
    const turn = this.turnOf(request)
    turn.done()
    const arrivals = this.#arrivalsOf(request.raw.socket)
    if (arrivals.newest?.turn === turn) arrivals.newest = undefined
  }
}

/** A write that was refused on its way never hands anything over. */
function doneWhenClosed({ turn, answer }: Arrival): void {
  if (answer.closed) turn.done()
  else answer.once('close', () => turn.done())
}
