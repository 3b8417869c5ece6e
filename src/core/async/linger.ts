import type { Duplex } from 'node:stream'

/** How long a client has to read the last bytes, milliseconds. */
const lingering = 1_000

/**
 * Closes a socket so that the client can read the last bytes: closing a socket with unread bytes would reset it. All further bytes
 * of the client are read and dropped. Nothing should wait for the end, which takes up to a second.
 */
export function linger(socket: Duplex, last?: Uint8Array | string): void {
  socket.once('end', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), lingering)
  socket.once('close', () => clearTimeout(timer))
  socket.end(last)
  socket.resume()
}
