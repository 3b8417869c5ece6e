import type { Duplex } from 'node:stream'

/** How long a client has to read the last packet, milliseconds. */
const lingering = 1_000

/**
 * Closes a socket so that the client can read the last packet: closing a socket with unread bytes would reset it. All further bytes
 * of the client are read and dropped. Nothing should wait for the end, which takes up to a second.
 */
export function linger(socket: Duplex, last?: Uint8Array): void {
  if (last) socket.write(last)
  socket.end()
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingering)
  socket.once('end', () => socket.destroy())
  socket.once('close', () => clearTimeout(timer))
}
