import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Limits } from '../../access/limits/limits.ts'
import { ThingwireError } from '../../errors.ts'
import type { Descriptors } from './descriptors.ts'
import { refuse } from './refuse.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** A socket; or, for a client behind a proxy, the response to its request. */
type Connection = EventEmitter & { readonly closed?: boolean }

interface Counts {
  readonly connections: Pick<Limits['connections'], 'enter'>
  readonly count: Limits['count']
}

/** Limits the connections of one address, and of the process, over all doors (contract §9). */
export class ConnectionLimit {
  readonly #limits: Counts
  readonly #proxies: TrustedProxies
  readonly #descriptors: Pick<Descriptors, 'enter'>

  constructor(limits: Counts, proxies: TrustedProxies, descriptors: Pick<Descriptors, 'enter'>) {
    this.#limits = limits
    this.#proxies = proxies
    this.#descriptors = descriptors
  }

  /** Whether the process has a descriptor to spare for an accepted connection. */
  hasRoom(socket: Socket): boolean {
    if (this.#descriptors.enter(socket)) return true
    this.#limits.count('too_many_connections')
    return false
  }

  /**
   * Counts a connection until it is closed. Connections of a trusted proxy itself are not counted; those of its clients are.
   *
   * @returns false if the caller must refuse it
   */
  enter(address: string, connection: Connection): boolean {
    if (this.#proxies.trusts(address)) return true
    const leave = this.#limits.connections.enter(address)
    if (!leave) {
      this.#limits.count('too_many_connections')
      return false
    }
    if (connection.closed) leave()
    else connection.once('close', leave)
    return true
  }

  /** `enter` for a client behind a trusted proxy; true for other clients, whose connections were counted when accepted. */
  enterForwarded(request: Pick<IncomingMessage, 'socket' | 'headers'>, connection: Connection): boolean {
    return !this.#proxies.forwards(request) || this.enter(this.#proxies.clientOf(request), connection)
  }

  /** Calls `next` if there is room, else closes the connection: an answer in TLS would cost a handshake. */
  admit(socket: Socket, next: () => void): void {
    if (this.hasRoom(socket) && this.enter(socket.remoteAddress ?? '', socket)) next()
    else socket.destroy()
  }

  /** Makes an HTTP server answer connections beyond the limit with 429, before it reads from them. */
  guard(server: Server): void {
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      // A TLS connection was counted before its handshake.
      const isCounted = socket instanceof TLSSocket
      // Destroyed without an answer, because a slow client would hold the descriptor.
      if (!isCounted && !this.hasRoom(socket)) socket.destroy()
      else if (!isCounted && !this.enter(socket.remoteAddress ?? '', socket))
        refuse(socket, new ThingwireError('too_many_connections'))
      else for (const listener of listeners) listener.call(server, socket)
    })
  }
}
