import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'

/** A connection of which the test says when, and how fast, bytes are taken out of the kernel. */
export interface ByteStream {
  /** Its own, not the server's. */
  readonly port: number
  /** Bytes taken out of the kernel so far. */
  readonly bytesRead: number
  /** Resolves when the connection is gone, whoever ended it. */
  readonly closed: Promise<void>
  write(bytes: Uint8Array): void
  /** Nothing is read until `resume`. */
  pause(): void
  resume(): void
  /** Sends what was written, then ends. */
  end(): void
  destroy(): void
}

export interface ByteStreamSetup {
  /** `mqtt://<host>:<port>` or `ws://<host>:<port>/mqtt`. */
  readonly url: string
  /** How fast to read, over TCP only; default: as fast as bytes arrive. */
  readonly bytesPerSecond?: number
  readonly onBytes: (bytes: Buffer) => void
}

/** A slow reader takes so many bytes at a time, or what it reads in so many milliseconds. */
const slice = { bytes: 4_096, time: 20 }
/** Milliseconds by which a timer may be late. */
const lateness = 500

/** @throws Error if the connection cannot be opened */
export function openByteStream(setup: ByteStreamSetup): Promise<ByteStream> {
  return setup.url.startsWith('mqtt:') ? openTcp(setup) : openWebSocket(setup)
}

async function openTcp({ url, bytesPerSecond, onBytes }: ByteStreamSetup): Promise<ByteStream> {
  const { hostname: host, port } = new URL(url)
  const address = { host, port: Number(port), noDelay: true }
  const socket = bytesPerSecond ? connectSlowly(address, bytesPerSecond, onBytes) : connect(address)
  const closed = closeOf(socket)
  if (!bytesPerSecond) socket.on('data', onBytes)
  await once(socket, 'connect')
  const { localPort = 0 } = socket
  return {
    port: localPort,
    get bytesRead() {
      return socket.bytesRead
    },
    closed,
    write: bytes => void socket.write(bytes),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  }
}

function connectSlowly(
  address: { host: string; port: number },
  bytesPerSecond: number,
  onBytes: (bytes: Buffer) => void,
): Socket {
  let due = performance.now()
  const socket = connect({
    ...address,
    onread: {
      buffer: Buffer.alloc(Math.max(slice.bytes, Math.ceil((bytesPerSecond * slice.time) / 1_000))),
      callback: (length, buffer) => {
        onBytes(Buffer.from(buffer.subarray(0, length)))
        const now = performance.now()
        // A reader that had nothing to read does not make up for it; a late timer is made up for.
        due = Math.max(due, now - lateness) + (length / bytesPerSecond) * 1_000
        setTimeout(() => socket.resume(), due - now)
        return false
      },
    },
  })
  return socket
}

async function openWebSocket({ url, onBytes }: ByteStreamSetup): Promise<ByteStream> {
  const webSocket = new WebSocket(url, ['mqtt'], { perMessageDeflate: false })
  webSocket.on('message', (bytes: Buffer) => onBytes(bytes))
  webSocket.on('error', () => {})
  const upgraded = once(webSocket, 'upgrade') as Promise<[IncomingMessage]>
  const [[{ socket }]] = await Promise.all([upgraded, once(webSocket, 'open')])
  const closed = closeOf(socket)
  return {
    port: socket.localPort ?? 0,
    get bytesRead() {
      return socket.bytesRead
    },
    closed,
    write: bytes => webSocket.send(bytes),
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    end: () => webSocket.close(),
    destroy: () => webSocket.terminate(),
  }
}

function closeOf(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  return new Promise(resolve => socket.once('close', () => resolve()))
}
