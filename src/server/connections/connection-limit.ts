import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Limits } from '../../access/limits/limits.ts'
import { ThingwireError } from '../../errors.ts'
import type { Descriptors } from './descriptors.ts'
import { refuse } from './refuse.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** A connection, or what stands for one that a proxy forwards. */
type Connection = EventEmitter & { readonly closed?: boolean }

interface Counts {
  readonly connections: Pick<Limits['connections'], 'enter'>
  readonly count: Limits['count']
}

/** How many connections one address may have over all doors, and how many there may be in all (contract §9). */
export class ConnectionLimit {
  readonly #limits: Counts
  readonly #proxies: TrustedProxies
  readonly #descriptors: Pick<Descriptors, 'enter'>

  constructor(limits: Counts, proxies: TrustedProxies, descriptors: Pick<Descriptors, 'enter'>) {
    this.#limits = limits
    this.#proxies = proxies
    this.#descriptors = descriptors
  }

  /** Whether the process has a descriptor for a connection that was accepted, whoever it is of. */
  hasRoom(socket: Socket): boolean {
    if (this.#descriptors.enter(socket)) return true
    this.#limits.count('too_many_connections')
    return false
  }

  /**
   * Counts a connection until it is closed. Those of a trusted proxy are not: what they forward is, where the address is known.
   *
   * @returns whether there is room for it; if not, it is to be refused
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

  /** The same for what came through a trusted proxy; anything else was counted when its connection was opened. */
  enterForwarded(request: Pick<IncomingMessage, 'socket' | 'headers'>, connection: Connection): boolean {
    return !this.#proxies.forwards(request) || this.enter(this.#proxies.clientOf(request), connection)
  }

  /** Closes a connection for which there is no room at once: a refusal in TLS would cost a handshake. */
  admit(socket: Socket, next: () => void): void {
    if (this.hasRoom(socket) && this.enter(socket.remoteAddress ?? '', socket)) next()
    else socket.destroy()
  }

  /** Answers connections of this server for which there is no room with 429, before anything of them is read. */
  guard(server: Server): void {
    const listeners = server.listeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      // What comes through TLS was counted before its handshake.
      const isCounted = socket instanceof TLSSocket
      // An answer would hold the descriptor for as long as the client likes.
      if (!isCounted && !this.hasRoom(socket)) socket.destroy()
      else if (!isCounted && !this.enter(socket.remoteAddress ?? '', socket))
        refuse(socket, new ThingwireError('too_many_connections'))
      else for (const listener of listeners) listener.call(server, socket)
    })
  }
}
