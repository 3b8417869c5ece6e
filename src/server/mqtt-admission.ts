import type { Socket } from 'node:net'
import type { ConnectionLimit } from './connections/connection-limit.ts'
import { type ProxyHeader, parseProxyHeader } from './connections/proxy-protocol.ts'
import type { TrustedProxies } from './connections/trusted-proxies.ts'

/** Admits TCP connections before TLS and MQTT read from them. Checks the PROXY protocol header first, then the limits. */
export class MqttAdmission {
  readonly #proxies: TrustedProxies
  readonly #limit: ConnectionLimit
  readonly #timeout: number
  /** Addresses of clients behind trusted proxies, by `endpoints`. A TCP socket and the TLS socket on it have the same endpoints. */
  readonly #clients = new Map<string, string>()

  /** @param timeout for the PROXY protocol header, milliseconds */
  constructor(proxies: TrustedProxies, limit: ConnectionLimit, timeout: number) {
    this.#proxies = proxies
    this.#limit = limit
    this.#timeout = timeout
  }

  /** Calls `next` for an admitted connection and closes any other. A trusted proxy must send a PROXY protocol header. */
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
    // Before `next`, there is no other listener for errors.
    socket.on('error', () => {})
    readProxyHeader(socket, this.#timeout).then(
      client => this.#enter(socket, client ?? peer, next),
      () => {},
    )
  }

  /** The address of the client of an admitted connection; behind a trusted proxy, the address in its header. */
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

/** Both addresses and ports as a text that is unique among open connections. */
function endpoints({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}

/**
 * Reads the PROXY protocol header of a new connection, and leaves the bytes after it unread.
 *
 * @param timeout milliseconds for the whole header
 * @returns the client's address; undefined if the header contains no address
 * @throws Error if there is no valid header in time; the connection is then closed
 */
export function readProxyHeader(socket: Socket, timeout: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const timer = setTimeout(() => fail(new Error('no PROXY protocol header in time')), timeout)
    const stop = () => {
      clearTimeout(timer)
      socket.off('readable', read).off('close', closed).off('error', fail)
    }
    const fail = (error: Error) => {
      stop()
      // There is no other listener for later errors.
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const closed = () => fail(new Error('closed before the PROXY protocol header'))
    const read = () => {
      const bytes = socket.read() as Buffer | null
      if (bytes === null) return
      received = Buffer.concat([received, bytes])
      let header: ProxyHeader | undefined
      try {
        header = parseProxyHeader(received)
      } catch (error) {
        return fail(error as Error)
      }
      if (!header) return
      stop()
      if (received.length > header.length) socket.unshift(received.subarray(header.length))
      resolve(header.address)
    }
    socket.on('readable', read).on('close', closed).on('error', fail)
  })
}
