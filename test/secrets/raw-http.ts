import { connect } from 'node:net'
import type { HttpPlace } from './http-places.ts'

/** Milliseconds for one request. */
const deadline = 20_000

/** Sends bytes and closes its half. @returns everything that was answered */
export async function sendBytes(url: string, bytes: string | Uint8Array): Promise<Buffer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const late = setTimeout(() => socket.destroy(new Error('the server has not closed in time')), deadline)
  const answer: Buffer[] = []
  socket.on('data', part => answer.push(part))
  socket.end(bytes)
  return await new Promise((resolve, reject) => {
    let problem: NodeJS.ErrnoException | undefined
    socket.on('error', error => {
      problem = error
    })
    socket.once('close', () => {
      clearTimeout(late)
      // A server may close on what it does not want to read to the end.
      const isReset = problem?.code === 'ECONNRESET' || problem?.code === 'EPIPE'
      if (problem && !isReset) reject(problem)
      else resolve(Buffer.concat(answer))
    })
  })
}

/** Sends a request as it is spelled, which no client library would do. */
export async function sendRequest(url: string, request: HttpPlace): Promise<Buffer> {
  const { method = 'GET', path, headers = {}, body } = request
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'localhost', connection: 'close', ...length, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', '']
  return await sendBytes(url, head.join('\r\n') + (body ?? ''))
}
