import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The ends of the connections that servers of this process accept from now on, in order. */
export function acceptedSockets(): readonly Socket[] {
  const sockets: Socket[] = []
  const onSocket = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  subscribe('net.server.socket', onSocket)
  onTestFinished(() => void unsubscribe('net.server.socket', onSocket))
  return sockets
}
