import type { Writable } from 'node:stream'
import { connectMqtt, openMqtt } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { frameHeader, opcodes, openRawWebSocket } from '../../test/mqtt/connection/raw-web-socket.ts'
import { type Memory, withMeasuredServer } from './measured-server.ts'

/** The most that the length of an MQTT packet can say. */
const largest = 268_435_455
const connectPacket = Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f])
const publishPacket = Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])
const piece = Buffer.alloc(64 * 1024)

/** What announces 256 MB, and goes on sending them. Each resolves when the connection is closed. */
const attacks = {
  'CONNECT over TCP': ({ mqttUrl }) => sendPacket(mqttUrl, connectPacket),
  'PUBLISH over TCP': ({ mqttUrl }) => sendPublish(mqttUrl),
  'CONNECT over WebSocket': ({ webSocketUrl }) => sendPacket(webSocketUrl, connectPacket),
  'PUBLISH over WebSocket': ({ webSocketUrl }) => sendPublish(webSocketUrl),
  'one WebSocket frame': ({ webSocketUrl }) => sendFrame(webSocketUrl),
  'WebSocket frames of 64 KiB, one message': ({ webSocketUrl }) => sendFragments(webSocketUrl, piece),
  'WebSocket frames of one byte, one message': ({ webSocketUrl }) =>
    sendFragments(webSocketUrl, Buffer.alloc(1)),
} satisfies Record<string, (server: ServerProcess) => Promise<number>>

export type Attack = keyof typeof attacks
export const attackNames = Object.keys(attacks) as Attack[]

export interface AttackResult extends Memory {
  /** Most bytes that one connection handed to its socket before it was closed. */
  readonly sent: number
}

/** @param connections how many connections do it, one after another */
export function measureAttack(name: Attack, connections: number): Promise<AttackResult> {
  return withMeasuredServer(async ({ server, loadOrdinarily, measure }) => {
    await loadOrdinarily(Buffer.from('{"values":[{"key":"n","value":1}]}'))
    let sent = 0
    const memory = await measure(async () => {
      for (let made = 0; made < connections; made++) sent = Math.max(sent, await attacks[name](server))
    })
    return { ...memory, sent }
  })
}

async function sendPacket(url: string, announcement: Buffer): Promise<number> {
  const client = await openMqtt({ url })
  client.sendBytes(announcement)
  return await sendUntilClosed(client.stream, client.closed, piece)
}

async function sendPublish(url: string): Promise<number> {
  const client = await connectMqtt({ url })
  client.sendBytes(publishPacket)
  return await sendUntilClosed(client.stream, client.closed, piece)
}

async function sendFrame(url: string): Promise<number> {
  const { socket, closed } = await openRawWebSocket(url)
  socket.write(frameHeader(opcodes.binary, largest))
  socket.write(connectPacket)
  return await sendUntilClosed(socket, closed, piece)
}

async function sendFragments(url: string, content: Buffer): Promise<number> {
  const { socket, closed } = await openRawWebSocket(url)
  const fragment = (opcode: number) => Buffer.concat([frameHeader(opcode, content.length, false), content])
  const following = fragment(opcodes.continuation)
  const perSegment = Math.ceil(piece.length / following.length)
  socket.write(Buffer.concat([frameHeader(opcodes.binary, connectPacket.length, false), connectPacket]))
  const segment = Buffer.concat(Array.from({ length: perSegment }, () => following))
  return await sendUntilClosed(socket, closed, segment)
}

/** @returns how many bytes were sent, at most as many as were announced */
async function sendUntilClosed(stream: Writable, closed: Promise<void>, bytes: Buffer): Promise<number> {
  let open = true
  const ended = closed.then(() => {
    open = false
  })
  let sent = 0
  while (open && sent < largest) {
    sent += bytes.length
    const goesOn = stream.write(bytes)
    await (goesOn
      ? new Promise(resolve => setImmediate(resolve))
      : Promise.race([new Promise(resolve => stream.once('drain', resolve)), ended]))
  }
  stream.destroy()
  await ended
  return sent
}
