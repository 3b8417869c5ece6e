import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { FastifyBaseLogger } from 'fastify'
import { type Endpoint, listen, probeAfter } from '../connections/listening.ts'
import type { ServedCertificate } from './served-certificate.ts'

/** Maximum milliseconds from the connection to the end of its TLS handshake. HTTP allows as much for the head of a request. */
const defaultHandshakeTimeout = 30_000

interface TlsListenerOptions {
  readonly certificate: ServedCertificate
  readonly endpoint: Endpoint
  /** Whether a client that has closed its half of the connection can still receive. */
  readonly allowHalfOpen: boolean
  /** Milliseconds. Default 30,000. */
  readonly handshakeTimeout?: number
  /** Called with each new connection; calls `next` when the handshake may begin. */
  readonly admit: (socket: Socket, next: () => void) => void
  /** Called with each connection after its handshake. */
  readonly accept: (socket: TLSSocket) => void
  readonly log: FastifyBaseLogger
}

export interface TlsListener {
  readonly address: AddressInfo
  isListening(): boolean
  /** Stops listening, destroys connections in their handshake, and resolves when the caller has closed the last connection. */
  close(): Promise<void>
}

/** Listens for TLS 1.2 or later. @throws Error with one line for the operator if it cannot listen */
export async function openTlsListener(options: TlsListenerOptions): Promise<TlsListener> {
  const { certificate, log } = options
  const { handshakeTimeout = defaultHandshakeTimeout } = options
  const tls = createTlsServer({ ...certificate.tlsOptions, handshakeTimeout })
  certificate.keepUp(tls)
  const handshakes = new Map<string, Socket>()
  tls.on('secureConnection', socket => {
    handshakes.delete(peerOf(socket))
    // Set only after the handshake: a client that closes its half earlier cannot finish the handshake, and is disconnected.
    socket.allowHalfOpen = options.allowHalfOpen
    options.accept(socket)
  })
  tls.on('tlsClientError', ({ message }, socket) => {
    log.debug({ message }, 'TLS handshake failed')
    socket.destroy()
  })
  const listener = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfter },
    socket => {
      const peer = peerOf(socket)
      handshakes.set(peer, socket)
      socket.once('close', () => handshakes.delete(peer))
      options.admit(socket, () => tls.emit('connection', socket))
    },
  )
  const address = await listen(listener, options.endpoint, log)
  return {
    address,
    isListening: () => listener.listening,
    close: () =>
      new Promise(resolve => {
        listener.close(() => resolve())
        for (const socket of handshakes.values()) socket.destroy()
      }),
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
