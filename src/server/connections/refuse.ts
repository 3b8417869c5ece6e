import type { Duplex } from 'node:stream'
import type { ThingwireError } from '../../errors.ts'
import { rawRefusal } from '../../http/reply/raw-refusal.ts'

/** Milliseconds after which the connection is closed, even if the client has not read the answer. */
const lingering = 1_000

/** Sends an error in the shape of every HTTP error (contract §6), and closes the connection. */
export function refuse(socket: Duplex, error: ThingwireError): void {
  socket.on('error', () => {})
  // Closing with unread bytes would reset the connection, and the answer would be lost.
  socket.once('end', () => socket.destroy())
  socket.resume()
  setTimeout(() => socket.destroy(), lingering)
  socket.end(rawRefusal(error))
}
