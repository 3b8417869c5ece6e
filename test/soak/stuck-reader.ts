import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { MqttClient, type Subscription } from '../helpers/mqtt-client.ts'
import { openStream } from '../helpers/mqtt-stream.ts'
import { within } from '../helpers/waiting.ts'
import type { Findings } from './findings.ts'
import { connectionEnd } from './kernel-queues.ts'
import type { LinkSetup } from './mqtt-link.ts'
import { ValueCheck, type ValueCheckSetup } from './value-check.ts'

export interface StuckSetup extends ValueCheckSetup {
  readonly name: string
  readonly link: Pick<LinkSetup, 'url' | 'password'>
  readonly subscriptions: readonly Subscription[]
}

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
export async function getStuck(setup: StuckSetup): Promise<{ readonly gone: Promise<StuckResult> }> {
  const { name } = setup
  const check = new ValueCheck(setup)
  const { url, password } = setup.link
  const { stream, socket } = await openStream({ url })
  const client = new MqttClient(stream, { url, onMessage: message => void check.take(message) })
  await client.connect({ clientId: name, username: 'stuck', password })
  await client.subscribeTo(...setup.subscriptions)
  // One that has read for a while has larger buffers, which take longer to fill.
  stream.pause()
  const gone = untilGone(setup, { client, check, stream, socket })
  // Thrown where it is awaited.
  gone.catch(() => {})
  return { gone }
}

interface Stuck {
  readonly client: MqttClient
  readonly check: ValueCheck
  readonly stream: Duplex
  readonly socket: Socket
}

async function untilGone(
  { name, link }: StuckSetup,
  { client, check, stream, socket }: Stuck,
): Promise<StuckResult> {
  const stuckAt = performance.now()
  const { localPort: port = 0 } = socket
  const serverPort = Number(new URL(link.url).port)
  let before: number | undefined
  let last = { took: 0, at: stuckAt }
  let now = stuckAt
  for (;;) {
    // What is looked at may be nearly as old: at once it might be from before the connection, which then seemed gone.
    await delay(lookInterval)
    const server = await connectionEnd(serverPort, port)
    const own = await connectionEnd(port, serverPort)
    now = performance.now()
    if (!server?.isEstablished || !own || now - last.at > patience) break
    const took = socket.bytesRead + own.receiveQueue + server.sendQueue
    before ??= took
    if (took - before >= last.took + leastStep) last = { took: took - before, at: now }
  }
  const isGone = now - last.at <= patience
  if (isGone) stream.resume()
  else stream.destroy()
  await within(client.closed, `${name}: the end of a stuck connection, seen by its client`)
  check.finishCutOff()
  return {
    name,
    findings: check.findings,
    taken: check.taken,
    tookBytes: last.took,
    tookFor: last.at - stuckAt,
    goneAfter: isGone ? now - last.at : Infinity,
  }
}
