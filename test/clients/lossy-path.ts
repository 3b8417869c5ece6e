import type { Socket } from 'node:net'
import { generate, parser } from 'mqtt-packet'
import { listenBetween } from '../helpers/tcp-path.ts'

/**
 * What becomes of one message on its way: the connection is closed or reset in its place, `halved` when half of it has
 * arrived; `lost`: it alone vanishes; `silent`: it and all that follows on the connection, in both directions; `unavailable`, of a
 * CONNACK: in its place comes one that says that the server is not available, and the connection is closed.
 */
export type Fate = 'closed' | 'reset' | 'halved' | 'lost' | 'silent' | 'unavailable'

/**
 * By kind and number, such as `answer 2`, counted from 1 over all connections. HTTP has `write` and `answer`; in MQTT these
 * are PUBLISH and PUBACK, and every other packet is named as in `mqtt-packet`.
 */
export type Fates = Readonly<Record<string, Fate>>

/** Opens a way to a port of 127.0.0.1, on a free one, on which some messages meet with an accident. Whoever opens it closes it. */
export async function openLossyPath(protocol: 'http' | 'mqtt', target: number, fates: Fates) {
  const counts = new Map<string, number>()
  /** The accidents that have happened. */
  const met: string[] = []
  const fateOf = (kind: string): Fate | undefined => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const fate = fates[`${kind} ${count}`]
    if (fate !== undefined) met.push(`${kind} ${count}`)
    return fate
  }
  const { port, close } = await listenBetween((near, open) => {
    const far = open(target)
    near.once('close', () => far.destroy())
    far.once('close', () => near.end())
    const passTo = passing([near, far], fateOf)
    const read = protocol === 'http' ? readSegments : packetReader()
    read(near, 'write', passTo(far))
    read(far, 'answer', passTo(near))
  })
  return { port, met, close }
}

/** @param unavailable what takes the place of a message that says that the server is available */
type Pass = (kind: string, bytes: Buffer, unavailable?: Buffer) => void

/** Of one connection. */
function passing(sides: readonly Socket[], fateOf: (kind: string) => Fate | undefined): (to: Socket) => Pass {
  let isSilent = false
  const closeBoth = () => {
    for (const side of sides) side.destroy()
  }
  return to => (kind, bytes, unavailable) => {
    if (isSilent) return
    const fate = fateOf(kind)
    if (fate === undefined) to.write(bytes)
    if (fate === 'halved') to.write(bytes.subarray(0, bytes.length >> 1), closeBoth)
    if (fate === 'unavailable') to.write(unavailable ?? '', closeBoth)
    if (fate === 'silent') isSilent = true
    if (fate === 'closed') closeBoth()
    if (fate === 'reset') for (const side of sides) side.resetAndDestroy()
  }
}

/** What is this small is sent in one segment. */
function readSegments(from: Socket, kind: string, pass: Pass): void {
  from.on('data', bytes => pass(kind, bytes))
}

/** Of one connection: CONNECT says in which version both sides speak. */
function packetReader(): (from: Socket, kind: string, pass: Pass) => void {
  const kinds: Readonly<Record<string, string>> = { publish: 'write', puback: 'answer' }
  const settings = { protocolVersion: 4 }
  const unavailable = { cmd: 'connack', sessionPresent: false, returnCode: 3, reasonCode: 0x88 } as const
  return (from, _kind, pass) => {
    const packets = parser(settings)
    let unread: Buffer = Buffer.alloc(0)
    packets.on('packet', packet => {
      if (packet.cmd === 'connect') settings.protocolVersion = packet.protocolVersion ?? 4
      const instead = packet.cmd === 'connack' ? generate(unavailable, settings) : undefined
      // Behind the first byte, the bytes of the length end with one below 0x80.
      const start = 2 + unread.subarray(1).findIndex(byte => byte < 0x80)
      const end = start + (packet.length ?? 0)
      const bytes = unread.subarray(0, end)
      unread = unread.subarray(end)
      // As they came: a broker takes some packets that `generate` refuses.
      pass(kinds[packet.cmd] ?? packet.cmd, bytes, instead)
    })
    from.on('data', bytes => {
      unread = Buffer.concat([unread, bytes])
      packets.parse(bytes)
    })
  }
}
