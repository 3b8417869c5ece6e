import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { MqttClient } from '../helpers/mqtt-client.ts'
import { openStream } from '../helpers/mqtt-stream.ts'
import { within } from '../helpers/waiting.ts'
import { Check } from './checks.ts'
import type { Findings } from './plan.ts'
import type { LiveSetup } from './subscribers.ts'

export interface StuckResult {
  readonly name: string
  /** What it got was a beginning without gaps: disconnected, never thinned. */
  readonly findings: Findings
  /** Messages it got, with those that it read in the end out of the kernel's buffers. */
  readonly taken: number
  /** Bytes that its socket took after it had stopped to read. */
  readonly tookBytes: number
  /** Milliseconds from when it stopped to read until its socket took the last of them. */
  readonly tookFor: number
  /** Milliseconds from then until the server had closed the connection; Infinity if it did not. */
  readonly goneAfter: number
}

/** Milliseconds. */
const lookInterval = 100
/** Also where too little was written to fill the socket. */
const patience = 60_000
/** Bytes: more than the server's pings over WebSocket take meanwhile, which never end. */
const leastStep = 16

/**
 * Subscribes, and reads nothing from then on. What the socket takes is seen in the kernel: bytes read, bytes that wait to be read,
 * bytes that wait to be sent; when they no longer become more, it takes nothing any more.
 *
 * @returns when it has stopped to read; `gone` resolves when the server has ended the connection, or has had long enough for it
 */
export async function getStuck(setup: LiveSetup): Promise<{ readonly gone: Promise<StuckResult> }> {
  const { name } = setup
  const check = new Check(setup)
  const { url, password } = setup.link
  const { stream, socket } = await openStream({ url })
  const client = new MqttClient(stream, { url, onMessage: message => void check.take(message) })
  await client.connect({ clientId: name, username: 'stuck', password })
  await client.subscribeTo(...setup.subscriptions)
  // One that has read for a while has larger buffers, which take longer to fill.
  stream.pause()
  const gone = untilTaken(socket, Number(new URL(url).port)).then(async taken => {
    if (taken.goneAfter < Infinity) stream.resume()
    else stream.destroy()
    await within(client.closed, `${name}: the end of a stuck connection, seen by its client`)
    check.finish(true)
    return { name, findings: check.findings, taken: check.taken, ...taken }
  })
  // Thrown where it is awaited.
  gone.catch(() => {})
  return { gone }
}

async function untilTaken(socket: Socket, serverPort: number) {
  const stuckAt = performance.now()
  const { localPort: port = 0 } = socket
  let before: number | undefined
  let last = { took: 0, at: stuckAt }
  for (;;) {
    // What is looked at may be nearly as old: at once it might be from before the connection, which then seemed gone.
    await delay(lookInterval)
    const server = await connectionEnd(serverPort, port)
    const own = await connectionEnd(port, serverPort)
    const now = performance.now()
    if (!server?.isEstablished || !own || now - last.at > patience) {
      const goneAfter = now - last.at <= patience ? now - last.at : Infinity
      return { tookBytes: last.took, tookFor: last.at - stuckAt, goneAfter }
    }
    const took = socket.bytesRead + own.receiveQueue + server.sendQueue
    before ??= took
    if (took - before >= last.took + leastStep) last = { took: took - before, at: now }
  }
}

/** Milliseconds for which everybody looks at the same table: to read it takes some milliseconds of processor time. */
const lifetime = 90
let table = { readAt: Number.NEGATIVE_INFINITY, lines: Promise.resolve<readonly string[]>([]) }

/**
 * Finds the end of a TCP connection with these ports among the IPv4 connections (proc(5)), as it was a tenth of a second ago at most:
 * bytes that were written and not acknowledged by the other end, that came and were not read, and whether neither end has closed it.
 * Undefined if it is gone. Linux only.
 */
async function connectionEnd(localPort: number, remotePort: number) {
  const now = performance.now()
  if (now - table.readAt > lifetime) {
    table = { readAt: now, lines: readFile('/proc/net/tcp', 'latin1').then(text => text.split('\n')) }
  }
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  // Such as `  12: 0100007F:1F90 0100007F:D431 01 00000000:00000000 …`
  const ports = new RegExp(`:${hex(localPort)} \\w+:${hex(remotePort)} (\\w\\w) (\\w+):(\\w+) `)
  const line = (await table.lines).find(each => ports.test(each))
  if (line === undefined) return undefined
  const [, state, sent = '', received = ''] = ports.exec(line) ?? []
  return {
    sendQueue: Number.parseInt(sent, 16),
    receiveQueue: Number.parseInt(received, 16),
    isEstablished: state === '01',
  }
}
