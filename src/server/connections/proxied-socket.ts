import type { Socket } from 'node:net'
import { type ProxyHeader, parseProxyHeader } from './proxy-protocol.ts'

/**
 * Reads the PROXY protocol header off a connection on which nothing was read yet; what follows it stays to be read.
 *
 * @param timeout milliseconds for the whole header
 * @returns the client's address; undefined if the header names none
 * @throws Error if there is no such header; the connection is then closed
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
      // An error that comes now is told to nobody else.
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
