import type { Socket } from 'node:net'
import type { ConnectionLimit } from './connections/connection-limit.ts'
import { readProxyHeader } from './connections/proxied-socket.ts'
import type { TrustedProxies } from './connections/trusted-proxies.ts'

/** What a TCP connection of MQTT goes through before TLS and MQTT see it. */
export class MqttAdmission {
  readonly #proxies: TrustedProxies
  readonly #limit: ConnectionLimit
  readonly #timeout: number
  /** Clients behind trusted proxies, by the connection of the proxy: a socket of TLS has the addresses of the one below. */
  readonly #clients = new Map<string, string>()

  /** @param timeout for the PROXY protocol header, milliseconds */
  constructor(proxies: TrustedProxies, limit: ConnectionLimit, timeout: number) {
    this.#proxies = proxies
    this.#limit = limit
    this.#timeout = timeout
  }

  /** Takes the PROXY protocol header off what a trusted proxy forwards, and closes it where there is no room for it. */
  admit(socket: Socket, next: () => void): void {
    const peer = socket.remoteAddress ?? ''
    if (!this.#proxies.trusts(peer)) {
      this.#limit.admit(socket, next)
      return
    }
    if (!this.#limit.hasRoom(socket)) {
      socket.destroy()
      return
    }
    // Nobody else listens before `next`.
    socket.on('error', () => {})
    readProxyHeader(socket, this.#timeout).then(
      client => this.#enter(socket, client ?? peer, next),
      () => {},
    )
  }

  /** Where the client of a connection that was let in is. */
  addressOf(socket: Socket): string {
    return this.#clients.get(endpoints(socket)) ?? socket.remoteAddress ?? ''
  }

  #enter(socket: Socket, client: string, next: () => void): void {
    if (socket.destroyed || !this.#limit.enter(client, socket)) {
      socket.destroy()
      return
    }
    const key = endpoints(socket)
    this.#clients.set(key, client)
    socket.once('close', () => this.#clients.delete(key))
    next()
  }
}

/** What no two connections that are open at one time have in common. */
function endpoints({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}
