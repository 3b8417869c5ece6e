import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Turn, Turns } from '../../core/async/turns.ts'

/** The property that contains the turn of a request. Replaces a `WeakMap`, which took a tenth of the time of a write. */
const turnKey = Symbol('turn of a write')
type Arrived = FastifyRequest & { [turnKey]?: Turn }

interface Arrival {
  readonly turn: Turn
  readonly answer: ServerResponse
}

interface Arrivals {
  readonly turns: Turns
  /** The newest write, until it is submitted. */
  newest: Arrival | undefined
}

/** Keeps the pipelined writes of a connection in the order of arrival. */
export class WriteOrder {
  readonly #connections = new WeakMap<Socket, Arrivals>()

  constructor(scope: FastifyInstance) {
    scope.decorateRequest(turnKey, null)
  }

  /** Call this as soon as the head of a write has arrived. */
  arrive(request: Arrived, { raw: answer }: FastifyReply): void {
    const arrivals = this.#arrivalsOf(request.raw.socket)
    const { turns, newest } = arrivals
    // The newest write needs a listener only if this write may have to wait for it, which is rare.
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

  /** The turn of an arrived write. It begins when every earlier write of the connection has been submitted or refused. */
  turnOf(request: Arrived): Turn {
    const turn = request[turnKey]
    if (!turn) throw new TypeError('the write has not arrived')
    return turn
  }

  /** Call this when the write is submitted. */
  done(request: Arrived): void {
    const turn = this.turnOf(request)
    turn.done()
    const arrivals = this.#arrivalsOf(request.raw.socket)
    if (arrivals.newest?.turn === turn) arrivals.newest = undefined
  }
}

/** Ends the turn when the answer has ended, because `done` is never called for a write that is refused early. */
function doneWhenClosed({ turn, answer }: Arrival): void {
  if (answer.closed) turn.done()
  else answer.once('close', () => turn.done())
}
