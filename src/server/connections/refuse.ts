import type { Duplex } from 'node:stream'
import type { ThingwireError } from '../../errors.ts'
import { rawRefusal } from '../../http/reply/raw-refusal.ts'

/** Milliseconds for which the client may take the answer. */
const lingering = 1_000

/** Answers an HTTP connection like every other error of HTTP (contract §6), whatever was asked, and closes it. */
export function refuse(socket: Duplex, error: ThingwireError): void {
  socket.on('error', () => {})
  // Closing on bytes that were not read would reset the connection, and with it the answer.
  socket.once('end', () => socket.destroy())
  socket.resume()
  setTimeout(() => socket.destroy(), lingering)
  socket.end(rawRefusal(error))
}
