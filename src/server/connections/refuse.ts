import type { Duplex } from 'node:stream'
import { linger } from '../../core/async/linger.ts'
import type { ThingwireError } from '../../errors.ts'
import { rawRefusal } from '../../http/reply/raw-refusal.ts'

/** Sends an error in the shape of every HTTP error (contract §6), and closes the connection. */
export function refuse(socket: Duplex, error: ThingwireError): void {
  socket.on('error', () => {})
  linger(socket, rawRefusal(error))
}
