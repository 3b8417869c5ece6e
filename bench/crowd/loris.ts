import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { encodePackets, publishPacket } from '../../test/helpers/mqtt-client.ts'
import { frameHeader, opcodes } from '../../test/mqtt/connection/raw-web-socket.ts'
import { connectPacket } from '../load/mqtt-packets.ts'

/** Sockets that send a byte, or something of no use, each second, so that they are never idle. */
export const lorisKinds = [
  'MQTT: CONNECT byte by byte',
  'MQTT: PUBLISH byte by byte',
  'WebSocket: pings instead of CONNECT',
  'WebSocket: a message byte by byte',
  'HTTP: head byte by byte',
  'HTTP: body byte by byte',
] as const

export type LorisKind = (typeof lorisKinds)[number]

export interface LorisTarget {
  readonly url: string
  readonly mqttUrl: string
  readonly webSocketUrl: string
  readonly thingToken: string
}

export interface Life {
  isOpen: boolean
  /** Seconds that it lived; infinity: it was still open at the deadline. */
  readonly ended: Promise<number>
}

interface Plan {
  readonly url: string
  /** Sent at once. */
  readonly first?: Buffer
  /** Sent when that is answered. */
  readonly answered?: Buffer
  /** Sent after these, one a second; at its end from its beginning. */
  readonly pieces: readonly Buffer[]
}

/** Milliseconds between two pieces. */
const pace = 1_000

/** @param deadline milliseconds */
export function openLoris(kind: LorisKind, target: LorisTarget, deadline: number): Life {
  const plan = planOf(kind, target)
  const { hostname, port } = new URL(plan.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const begin = performance.now()
  let timer: NodeJS.Timeout | undefined
  const trickle = () => {
    let next = 0
    timer = setInterval(() => {
      const piece = plan.pieces[next++ % plan.pieces.length]
      if (piece && !socket.destroyed) socket.write(piece)
    }, pace)
  }
  socket.on('connect', () => {
    if (plan.first) socket.write(plan.first)
    if (plan.answered === undefined) trickle()
    else {
      socket.once('data', () => {
        socket.write(plan.answered ?? '')
        trickle()
      })
    }
  })
  // A refusal before the end counts as the end when the socket is closed.
  socket.resume()
  socket.on('error', () => {})
  const ended = lifeOf(socket, deadline).then(isGone => {
    life.isOpen = false
    clearInterval(timer)
    socket.destroy()
    return isGone ? (performance.now() - begin) / 1_000 : Number.POSITIVE_INFINITY
  })
  const life: Life = { isOpen: true, ended }
  return life
}

function lifeOf(socket: Socket, deadline: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => resolve(false), deadline)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}

function planOf(kind: LorisKind, { url, mqttUrl, webSocketUrl, thingToken }: LorisTarget): Plan {
  const hello = connectPacket({ clientId: '', username: thingToken })
  const topic = `things/${thingToken}/write`
  const payload = `{"values":[{"key":"loris","value":"${'x'.repeat(2_000)}"}]}`
  const publish = encodePackets(publishPacket(topic, payload, { messageId: 1 }))
  switch (kind) {
    case 'MQTT: CONNECT byte by byte':
      return { url: mqttUrl, pieces: bytesOf(hello) }
    case 'MQTT: PUBLISH byte by byte':
      return { url: mqttUrl, first: hello, answered: Buffer.alloc(0), pieces: bytesOf(publish) }
    case 'WebSocket: pings instead of CONNECT':
      return {
        url: webSocketUrl,
        first: upgradeOf(webSocketUrl),
        answered: Buffer.alloc(0),
        pieces: [frameHeader(opcodes.ping, 0)],
      }
    case 'WebSocket: a message byte by byte': {
      const connecting = Buffer.concat([frameHeader(opcodes.binary, hello.length), hello])
      const beginning = frameHeader(opcodes.binary, publish.length)
      return {
        url: webSocketUrl,
        first: upgradeOf(webSocketUrl),
        answered: Buffer.concat([connecting, beginning]),
        pieces: bytesOf(publish),
      }
    }
    case 'HTTP: head byte by byte':
      return {
        url,
        pieces: bytesOf(
          Buffer.from(`POST /v2/things/${thingToken} HTTP/1.1\r\nX-Filler: ${'x'.repeat(200)}`),
        ),
      }
    case 'HTTP: body byte by byte': {
      const head = `POST /v2/things/${thingToken} HTTP/1.1\r\nHost: a\r\nContent-Length: ${payload.length}\r\n\r\n`
      return { url, first: Buffer.from(head), pieces: bytesOf(Buffer.from(payload)) }
    }
  }
}

function bytesOf(buffer: Buffer): Buffer[] {
  return Array.from(buffer, byte => Buffer.of(byte))
}

function upgradeOf(url: string): Buffer {
  const head = [
    `GET ${new URL(url).pathname} HTTP/1.1`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: mqtt',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`)
}
