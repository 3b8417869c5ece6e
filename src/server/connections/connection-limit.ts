import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Limits } from '../../access/limits/limits.ts'
import { ThingwireError } from '../../errors.ts'
import type { Descriptors } from './descriptors.ts'
import { refuse } from './refuse.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** A socket, or the response to a request that came through a proxy. */
type Connection = EventEmitter & { readonly closed?: boolean }

interface Counts {
  readonly connections: Pick<Limits['connections'], 'enter'>
  readonly count: Limits['count']
}

/** Limits the number of connections of each address and of the process, across all doors (contract §9). */
export class ConnectionLimit {
  readonly #limits: Counts
  readonly #proxies: TrustedProxies
  readonly #descriptors: Pick<Descriptors, 'enter'>

  constructor(limits: Counts, proxies: TrustedProxies, descriptors: Pick<Descriptors, 'enter'>) {
    this.#limits = limits
    this.#proxies = proxies
    this.#descriptors = descriptors
  }

  /** Reserves a descriptor for an accepted connection until it is closed. @returns false if no descriptor is left */
  hasRoom(socket: Socket): boolean {
    if (this.#descriptors.enter(socket)) return true
    this.#limits.count('too_many_connections')
    return false
  }

  /**
   * Counts a connection until it is closed. A connection from a trusted proxy is not counted (`enterForwarded` counts its clients).
   *
   * @returns false if the caller must refuse the connection
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

  /** Calls `enter` for a client behind a trusted proxy. True for any other client: its connection was counted when accepted. */
  enterForwarded(request: Pick<IncomingMessage, 'socket' | 'headers'>, connection: Connection): boolean {
    return !this.#proxies.forwards(request) || this.enter(this.#proxies.clientOf(request), connection)
  }

  /** Calls `next` if there is room, else closes the connection. No answer is sent: over TLS, an answer would cost a handshake. */
  admit(socket: Socket, next: () => void): void {
    if (this.hasRoom(socket) && this.enter(socket.remoteAddress ?? '', socket)) next()
    else socket.destroy()
  }

  /** Makes an HTTP server answer connections beyond the limit with 429, without reading a request. */
  guard(server: Server): void {
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      // A TLS connection was counted before its handshake.
      const isCounted = socket instanceof TLSSocket
      // Without descriptors, the connection ends without an answer: a client that reads one slowly would occupy its descriptor.
      if (!isCounted && !this.hasRoom(socket)) socket.destroy()
      else if (!isCounted && !this.enter(socket.remoteAddress ?? '', socket))
        refuse(socket, new ThingwireError('too_many_connections'))
      else for (const listener of listeners) listener.call(server, socket)
    })
  }
}
