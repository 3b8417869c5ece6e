import { parser } from 'mqtt-packet'
import { eventOf } from '../../../helpers/event-of.ts'
import { RawConnection } from '../../../helpers/raw-connection.ts'
import { within } from '../../../helpers/waiting.ts'
import { connect, disconnect, hex } from './bytes.ts'
import type { Case } from './case.ts'

interface Frame {
  readonly firstByte: number
  readonly content: Buffer
}

/** Of a server's packets (table 2-1). */
const names: Readonly<Record<number, string>> = {
  2: 'CONNACK',
  3: 'PUBLISH',
  4: 'PUBACK',
  5: 'PUBREC',
  6: 'PUBREL',
  7: 'PUBCOMP',
  9: 'SUBACK',
  11: 'UNSUBACK',
  13: 'PINGRESP',
  14: 'DISCONNECT',
  15: 'AUTH',
}

/** Milliseconds; far beyond what an answer takes. */
const deadline = 20_000

/**
 * Sends the packet of a case, and then a DISCONNECT if the server goes on.
 *
 * @returns what the server has sent, and how it has ended the connection
 */
export async function outcomeOf(
  url: string,
  { isFirst, sessionExpiry, bytes, outcome }: Case,
): Promise<string> {
  const connection = await RawConnection.open(url, deadline)
  const { socket } = connection
  const ends: string[] = []
  socket.once('end', () => ends.push('FIN'))
  socket.once('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? error.message))
  const closed = eventOf(socket, 'close')
  /** What came before the packet of the case. */
  let seen = 0
  const frames = () => framesOf(Buffer.from(connection.text, 'latin1')).slice(seen)
  const has = (name: string) => frames().some(frame => textOf(frame) === name)
  if (!isFirst) {
    connection.send(connect({ properties: propertiesOf(sessionExpiry) }))
    await connection.until(() => connection.isClosed || frames().length > 0, 'CONNACK')
    if (!has('CONNACK 0x00')) throw new Error('the client was not let in')
    seen = 1
  }
  connection.send(bytes)
  // A case that must be refused, and is not, has its PINGRESP.
  const awaited = /PINGRESP/.test(outcome) ? outcome.split(', ').slice(0, -1) : ['PINGRESP']
  await connection.until(() => connection.isClosed || awaited.every(has), outcome)
  if (!connection.isClosed) connection.send(disconnect)
  await connection.until(() => connection.isClosed, 'the end')
  socket.end()
  await within(closed, 'the end of the socket')
  const isReadable = readable(Buffer.from(connection.text, 'latin1'))
  return [...inOrder(frames().map(textOf)), ...(isReadable ? [] : ['unreadable']), ...ends].join(', ')
}

function propertiesOf(sessionExpiry: number | undefined): number[] {
  return sessionExpiry === undefined ? [0] : [5, 17, 0, 0, 0, sessionExpiry]
}

/** Whether another implementation can read all of them, their properties too. */
function readable(bytes: Buffer): boolean {
  let isReadable = true
  const other = parser({ protocolVersion: 5 })
  other.on('error', () => {
    isReadable = false
  })
  return other.parse(bytes) === 0 && isReadable
}

/** An ack need not come before the answer to a later PINGREQ. A PUBREL for an unknown packet is left to the server. */
function inOrder(texts: readonly string[]): readonly string[] {
  const isRefused = texts.some(text => text.startsWith('DISCONNECT'))
  const isPing = (text: string) => text === 'PINGRESP'
  const kept = texts.filter(text => text !== 'PUBREL')
  return isRefused ? kept : [...kept.filter(text => !isPing(text)), ...kept.filter(isPing)]
}

/** @throws Error if the bytes are no packets */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let place = 0; place < bytes.length; ) {
    const firstByte = bytes[place] ?? 0
    let [length, shift] = [0, 0]
    let at = place + 1
    for (; at < bytes.length; at++, shift += 7) {
      const byte = bytes[at] ?? 0
      length |= (byte & 127) << shift
      if (byte < 128) break
    }
    const start = at + 1
    // The rest is under way.
    if (start + length > bytes.length) break
    frames.push({ firstByte, content: bytes.subarray(start, start + length) })
    place = start + length
  }
  return frames
}

/** The name of a packet, and its reason code if that refuses something. */
function textOf({ firstByte, content }: Frame): string {
  const type = firstByte >> 4
  const name = names[type] ?? `type ${type}`
  const [sessionPresent = 0, connectCode = 0] = content
  // No session is present for a client that is refused (MQTT-3.2.2-6).
  const flags = type === 2 && connectCode > 0 && sessionPresent > 0 ? ' of a session' : ''
  if (type === 2) return `${name} ${hex(connectCode)}${flags}`
  if (type === 14) return `${name} ${hex(content[0] ?? 0)}`
  // A PUBREL or PUBCOMP for a packet that is not known may say so (3.6.2.1, 3.7.2.1).
  if (type === 6 || type === 7) return name
  const code = type === 4 || type === 5 ? content[2] : type === 9 || type === 11 ? content.at(-1) : 0
  return (code ?? 0) < 0x80 ? name : `${name} ${hex(code ?? 0)}`
}
