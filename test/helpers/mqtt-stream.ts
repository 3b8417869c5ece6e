import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ClientOptions, createWebSocketStream, WebSocket } from 'ws'

export interface StreamAddress {
  /** `mqtt://<host>:<port>` or `ws://<host>:<port>/mqtt`. */
  readonly url: string
  /** Over WebSocket. Default `mqtt`. */
  readonly subprotocol?: string
  /** How fast it reads, over TCP only. Default: as fast as bytes arrive. */
  readonly bytesPerSecond?: number
}

export interface OpenStream {
  readonly stream: Duplex
  /** Beneath the stream, or the stream itself. */
  readonly socket: Socket
}

/** A slow reader takes so many bytes at a time, or what it reads in so many milliseconds. */
const slice = { bytes: 4_096, time: 20 }
/** Milliseconds by which a timer may be late. */
const lateness = 500

/** Opens a connection over which MQTT can be spoken. @throws Error if it cannot be opened */
export async function openStream({
  url,
  subprotocol = 'mqtt',
  bytesPerSecond,
}: StreamAddress): Promise<OpenStream> {
  if (url.startsWith('mqtt:')) {
    const { hostname, port } = new URL(url)
    const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true }
    const socket = bytesPerSecond ? connectSlowly(address, bytesPerSecond) : connect(address)
    await once(socket, 'connect')
    return { stream: socket, socket }
  }
  const { webSocket, socket } = await openWebSocket(url, subprotocol)
  const stream = createWebSocketStream(webSocket)
  // When the server ends the connection, the stream ends only its readable half.
  webSocket.once('close', () => stream.destroy())
  return { stream, socket }
}

/** Opens a WebSocket. @returns it with the socket beneath, into which a test can write frames of its own */
export async function openWebSocket(url: string, subprotocol = 'mqtt', options: ClientOptions = {}) {
  const webSocket = new WebSocket(url, [subprotocol], options)
  const upgraded = once(webSocket, 'upgrade') as Promise<[IncomingMessage]>
  const [[{ socket }]] = await Promise.all([upgraded, once(webSocket, 'open')])
  return { webSocket, socket }
}

function connectSlowly(address: TcpNetConnectOpts, bytesPerSecond: number): Socket {
  let due = performance.now()
  const socket = connect({
    ...address,
    onread: {
      buffer: Buffer.alloc(Math.max(slice.bytes, Math.ceil((bytesPerSecond * slice.time) / 1_000))),
      callback: (length, buffer) => {
        socket.emit('data', Buffer.from(buffer.subarray(0, length)))
        const now = performance.now()
        // A reader that had nothing to read does not make up for it; a late timer is made up for.
        due = Math.max(due, now - lateness) + (length / bytesPerSecond) * 1_000
        // On a busy machine a timer for each slice would make the reader many times as slow.
        if (due <= now) return true
        setTimeout(() => socket.resume(), due - now)
        return false
      },
    },
  })
  return socket
}
