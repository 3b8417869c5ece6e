import type { Writable } from 'node:stream'
import { connectMqtt, openMqtt } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { frameHeader, opcodes, openRawWebSocket } from '../../test/mqtt/connection/raw-web-socket.ts'
import { pour, withMeasuredServer } from './measured-server.ts'

/** The most that the length of an MQTT packet can say. */
const largest = 268_435_455
const connectPacket = Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f])
const publishPacket = Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])
const piece = Buffer.alloc(64 * 1024)

interface Announced {
  readonly stream: Writable
  readonly closed: Promise<void>
}

/** What announces 256 MB. */
export const attacks: Readonly<Record<string, (server: ServerProcess) => Promise<Announced>>> = {
  'CONNECT over TCP': ({ mqttUrl }) => announceConnect(mqttUrl),
  'PUBLISH over TCP': ({ mqttUrl }) => announcePublish(mqttUrl),
  'CONNECT over WebSocket': ({ webSocketUrl }) => announceConnect(webSocketUrl),
  'PUBLISH over WebSocket': ({ webSocketUrl }) => announcePublish(webSocketUrl),
  'one WebSocket frame': async ({ webSocketUrl }) => {
    const { socket, closed } = await openRawWebSocket(webSocketUrl)
    socket.write(Buffer.concat([frameHeader(opcodes.binary, largest), connectPacket]))
    return { stream: socket, closed }
  },
}

/** Goes on sending until the connection is closed. @returns bytes: those sent, and of memory that it cost */
export function measureAttack(attack: (server: ServerProcess) => Promise<Announced>) {
  return withMeasuredServer(async ({ server, loadOrdinarily, measure }) => {
    await loadOrdinarily(Buffer.from('{"values":[{"key":"n","value":1}]}'))
    let sent = 0
    const { before, peak } = await measure(async () => {
      const { stream, closed } = await attack(server)
      sent = piece.length * (await pour(stream, [piece], closed, largest))
      stream.destroy()
      await closed
    })
    return { sent, cost: peak - before }
  })
}

async function announceConnect(url: string): Promise<Announced> {
  const client = await openMqtt({ url })
  client.sendBytes(connectPacket)
  return client
}

async function announcePublish(url: string): Promise<Announced> {
  const client = await connectMqtt({ url })
  client.sendBytes(publishPacket)
  return client
}
