import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { MqttClient } from '../helpers/mqtt-client.ts'
import { openStream } from '../helpers/mqtt-stream.ts'
import { eventually, within } from '../helpers/waiting.ts'
import { Check } from './checks.ts'
import type { Findings } from './plan.ts'
import type { LiveSetup } from './subscribers.ts'

export interface StuckResult {
  readonly name: string
  /** What it got was a beginning without gaps: disconnected, never thinned. */
  readonly findings: Findings
  /** Messages it got, with those that it read in the end out of the kernel's buffers. */
  readonly taken: number
  /** Whether the server has ended the connection. */
  readonly isCut: boolean
}

/** Milliseconds; also where too little was written to fill the socket. */
const patience = 120_000

/**
 * Subscribes, and reads nothing from then on.
 *
 * @returns when it has stopped to read; `gone` resolves when the server has ended the connection, or has had long enough for it
 */
export async function getStuck(setup: LiveSetup): Promise<{ readonly gone: Promise<StuckResult> }> {
  const { name } = setup
  const check = new Check(setup)
  const { version: protocolVersion = 4, url, password } = setup.link
  const { stream, socket } = await openStream({ url })
  const client = new MqttClient(stream, {
    url,
    protocolVersion,
    onMessage: message => void check.take(message),
  })
  await client.connect({ clientId: name, username: 'stuck', password })
  await client.subscribeTo(...setup.subscriptions)
  // One that has read for a while has larger buffers, which take longer to fill.
  stream.pause()
  const gone = eventually(async () => !(await isOpenAtServer(socket)), patience).then(async isCut => {
    if (isCut) stream.resume()
    else stream.destroy()
    await within(client.closed, `${name}: the end of a stuck connection, seen by its client`)
    check.finish(true)
    return { name, findings: check.findings, taken: check.taken, isCut }
  })
  // Thrown where it is awaited.
  gone.catch(() => {})
  return { gone }
}

/**
 * Whether the server has its end of the connection open (proc(5)): while the client reads nothing, the end does not get through to it.
 * Linux only.
 */
async function isOpenAtServer({ localPort, remotePort }: Socket): Promise<boolean> {
  const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0')
  // Such as `  12: 0100007F:1F90 0100007F:D431 01 00000000:00000000 …`
  const open = new RegExp(`:${hex(remotePort)} \\w+:${hex(localPort)} 01 `)
  return open.test(await readFile('/proc/net/tcp', 'latin1'))
}
