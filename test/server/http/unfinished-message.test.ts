import { once } from 'node:events'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { acceptedSockets } from '../../helpers/accepted-sockets.ts'
import { encodePackets } from '../../helpers/mqtt-client.ts'
import {
  frameHeader,
  opcodes,
  openRawWebSocket,
  type RawWebSocket,
} from '../../mqtt/connection/raw-web-socket.ts'
import { DoorService } from '../../mqtt/door-service.ts'

/** Milliseconds. */
const minute = 60_000
const look = 1_000

const hello = encodePackets({ cmd: 'connect', clientId: '', clean: true, keepalive: 0 })
const ping = encodePackets({ cmd: 'pingreq' })
/** Bytes. */
const part = 61 * 1024
const largeWrite = Buffer.alloc(5 * part, ' ')

describe('a WebSocket message that is begun', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    return () => vi.useRealTimers()
  })

  it.each([
    ['the first byte of its header', frameHeader(opcodes.binary, 2).subarray(0, 1)],
    ['its header', frameHeader(opcodes.binary, 2)],
    ['a part of its payload', Buffer.concat([frameHeader(opcodes.binary, 2), ping.subarray(0, 1)])],
    ['its first fragment', Buffer.concat([frameHeader(opcodes.binary, 2, false), ping])],
    ['a fragment without payload', frameHeader(opcodes.binary, 0, false)],
  ])('closes the WebSocket when a minute has brought no more than %s', async (_case, bytes) => {
    const webSocket = await connect()
    await send(webSocket, bytes)
    vi.advanceTimersByTime(minute)
    await webSocket.closed
  })

  it('closes it though pings come all the while', async () => {
    const webSocket = await connect()
    await send(webSocket, Buffer.concat([frameHeader(opcodes.binary, 2, false), ping]))
    for (let second = 0; second < 60; second++) {
      expect(await webSocket.isStillOpen()).toBe(true)
      vi.advanceTimersByTime(1_000)
    }
    await webSocket.closed
  })

  it('is taken if it is finished within the minute, and the next has one of its own', async () => {
    const webSocket = await connect()
    for (let n = 0; n < 3; n++) {
      await send(webSocket, frameHeader(opcodes.binary, ping.length))
      vi.advanceTimersByTime(minute - look)
      webSocket.socket.write(ping)
      // PINGRESP.
      await once(webSocket.socket, 'data')
      expect(await webSocket.isStillOpen()).toBe(true)
    }
  })

  it.each([
    ['one frame', [frameHeader(opcodes.binary, 5 * part)]],
    [
      'fragments',
      [
        frameHeader(opcodes.binary, part, false),
        ...Array.from({ length: 3 }, () => frameHeader(opcodes.continuation, part, false)),
      ],
    ],
  ])('has another minute for each in which it grows by 60 KiB, in %s', async (_case, headers) => {
    const accepted = acceptedSockets()
    const { socket, closed } = await connect()
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    for (let n = 0; n < 4; n++) {
      const bytes = Buffer.concat([
        headers[n] ?? Buffer.alloc(0),
        largeWrite.subarray(n * part, (n + 1) * part),
      ])
      const received = (accepted[0]?.bytesRead ?? 0) + bytes.length
      socket.write(bytes)
      await expect.poll(() => accepted[0]?.bytesRead).toBe(received)
      vi.advanceTimersByTime(n === 0 ? look : minute)
    }
    expect(isClosed).toBe(false)
    vi.advanceTimersByTime(minute)
    await closed
  })

  it('is not what an idle WebSocket has', async () => {
    const webSocket = await connect()
    vi.advanceTimersByTime(10 * minute)
    expect(await webSocket.isStillOpen()).toBe(true)
  })
})

async function connect(): Promise<RawWebSocket> {
  const service = await DoorService.start()
  const webSocket = await openRawWebSocket(service.webSocketUrl)
  onTestFinished(() => void webSocket.socket.destroy())
  webSocket.socket.write(Buffer.concat([frameHeader(opcodes.binary, hello.length), hello]))
  // CONNACK.
  await once(webSocket.socket, 'data')
  return webSocket
}

/** Resolves when the server has received all of it, and has looked at it. */
async function send({ socket }: RawWebSocket, bytes: Buffer): Promise<void> {
  socket.write(Buffer.concat([frameHeader(opcodes.ping, 0), bytes]))
  await once(socket, 'data')
  vi.advanceTimersByTime(look)
}
