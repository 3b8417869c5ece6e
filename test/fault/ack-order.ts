import { type Packet, parser } from 'mqtt-packet'
import { readBatch, readLevelLog } from './level-log.ts'
import type { SystemCall } from './trace.ts'

/** Of the documents that hold packet ids, see docs/reference/storage.md. */
const packetIdKeys = 'omqtt-in-flight/'

export interface AckOrder {
  /** Writes whose ack followed the fdatasync that covers them. */
  readonly covered: readonly string[]
  /** Writes whose PUBCOMP followed the fdatasync that covers the removal of their packet id. */
  readonly completed: readonly string[]
  /** The others, each with what is wrong. */
  readonly violations: readonly string[]
}

/** The log that was traced; it must have been the same file all the time. */
export interface TracedLog {
  readonly path: string
  /** Its content at the end. */
  readonly bytes: Buffer
}

/**
 * Compares every ack of the trace with what must come before it: the request read from the same socket, the batch that
 * holds the write written to the log to its last byte, and an fdatasync of the log that began after that and succeeded;
 * for PUBCOMP of a persistent session the batch that removes the packet id. PUBACK and PUBREC must leave in the order
 * of the PUBLISHes.
 *
 * @param markers finds the marks of writes in a request or in a batch
 */
export function checkAckOrder(calls: readonly SystemCall[], log: TracedLog, markers: RegExp): AckOrder {
  const isOfLog = ({ file }: SystemCall) => file === log.path
  const written = new WrittenLog(calls.filter(isOfLog), log, markers)
  const syncs = calls.filter(call => isOfLog(call) && call.name === 'fdatasync' && call.result === 0)
  const { acks, violations } = sentAcks(calls, markers)
  const covered: string[] = []
  const completed: string[] = []
  for (const ack of acks) {
    const { marker, at, kind } = ack
    const writtenAt = written.before(ack)
    if (writtenAt === undefined) violations.push(`${marker}, ${kind}: not in the log before it`)
    else if (!syncs.some(({ began, ended }) => began > writtenAt && ended < at))
      violations.push(`${marker}, ${kind}: no fdatasync between the last byte in the log and it`)
    else if (kind === 'PUBCOMP') completed.push(marker)
    else covered.push(marker)
  }
  return { covered, completed, violations }
}

/** When what was written to the log. */
class WrittenLog {
  readonly #writtenAt = new Map<string, number>()
  /** By client id and packet id, times in order. */
  readonly #removedAt = new Map<string, number[]>()

  constructor(calls: readonly SystemCall[], log: TracedLog, markers: RegExp) {
    const writes = calls.filter(({ name }) => name === 'write')
    // What was there when the trace began is not in it, nor what was packed when it had ended.
    let offset = writes[0] ? log.bytes.indexOf(writes[0].bytes) : 0
    if (offset < 0) throw new Error(`${log.path} does not hold what was written to it under the trace`)
    const ends = writes.map(({ result, ended }) => {
      offset += result
      return { offset, ended }
    })
    for (const { payload, end } of readLevelLog(log.bytes).records) {
      const at = ends.find(({ offset }) => offset >= end)?.ended
      if (at === undefined) continue
      for (const marker of payload.toString('latin1').match(markers) ?? []) {
        // What is packed later is written once more.
        if (!this.#writtenAt.has(marker)) this.#writtenAt.set(marker, at)
      }
      for (const name of removedPacketIds(payload)) {
        this.#removedAt.set(name, [...(this.#removedAt.get(name) ?? []), at])
      }
    }
  }

  /** When the last byte was written of the batch that must come before the ack; undefined if that was not before it. */
  before({ kind, marker, clientId, messageId, receivedAt, at }: SentAck): number | undefined {
    const times =
      kind === 'PUBCOMP'
        ? this.#removedAt.get(`${clientId}/${messageId}`)?.filter(time => time > receivedAt)
        : [this.#writtenAt.get(marker) ?? Infinity]
    return times?.find(time => time < at)
  }
}

/** The packet ids that a batch removes from what persistent sessions hold, each as `<client id>/<packet id>`. */
function removedPacketIds(payload: Buffer): string[] {
  return readBatch(payload)
    .filter(({ key, value }) => value === undefined && key.startsWith(packetIdKeys))
    .map(({ key }) => key.replace(/^.*(mqtt\d-device-\d+-\d+)\/(\d+)$/, '$1/$2'))
}

/** An ack that was handed to a socket. */
interface SentAck {
  readonly kind: '201' | 'PUBACK' | 'PUBREC' | 'PUBCOMP'
  /** Of the write that it is for. */
  readonly marker: string
  /** When the write of it to its socket began. */
  readonly at: number
  /** When what it answers was read. */
  readonly receivedAt: number
  /** Over MQTT. */
  readonly clientId?: string
  readonly messageId?: number
}

/** What went over one socket. */
interface Watched {
  receive(bytes: Buffer, at: number): void
  send(bytes: Buffer, at: number): void
}

/** Violations: acks that answer nothing, or leave out of turn. */
interface Found {
  readonly acks: SentAck[]
  readonly violations: string[]
}

const connectByte = 0x10

/** Every ack of the trace, with what it answers. @param markers finds the marks of writes in a request */
function sentAcks(calls: readonly SystemCall[], markers: RegExp): Found {
  const sockets = new Map<string, Watched>()
  const found: Found = { acks: [], violations: [] }
  for (const { name, file, bytes, result, began, ended } of calls) {
    if (!file.startsWith('socket:') || result <= 0) continue
    const moved = bytes.subarray(0, result)
    const isReceived = name.startsWith('read') || name.startsWith('recv')
    const isMqtt = isReceived && moved[0] === connectByte
    const socket = sockets.get(file) ?? (isMqtt ? mqttSocket : httpSocket)(markers, found)
    sockets.set(file, socket)
    if (isReceived) socket.receive(moved, ended)
    else socket.send(moved, began)
  }
  return found
}

/** Carries one request at a time. */
function httpSocket(markers: RegExp, { acks }: Found): Watched {
  let request = ''
  let receivedAt = 0
  return {
    receive: (bytes, at) => {
      request += bytes.toString('latin1')
      receivedAt = at
    },
    send: (bytes, at) => {
      const text = bytes.toString('latin1')
      if (!text.includes('HTTP/1.1 ')) return
      const [marker = 'an ack without a request'] = request.match(markers) ?? []
      if (text.includes('HTTP/1.1 201')) acks.push({ kind: '201', marker, at, receivedAt })
      request = ''
    },
  }
}

interface Published {
  readonly messageId: number
  readonly marker: string
  readonly receivedAt: number
  readonly ack: 'PUBACK' | 'PUBREC'
}

function mqttSocket(markers: RegExp, { acks, violations }: Found): Watched {
  const settings = { protocolVersion: 4 }
  const [received, sent] = [parser(settings), parser(settings)]
  /** In the order in which they are to be acked. */
  const unacked: Published[] = []
  /** By packet id. */
  const released = new Map<number, Published>()
  let clientId = ''
  let now = 0
  const note = (kind: SentAck['kind'], { marker, messageId, receivedAt }: Published) =>
    void acks.push({ kind, marker, at: now, receivedAt, clientId, messageId })
  received.on('packet', (packet: Packet) => {
    if (packet.cmd === 'connect') {
      clientId = packet.clientId
      // Parsers look at their settings with each packet.
      settings.protocolVersion = packet.protocolVersion ?? 4
    }
    if (packet.cmd !== 'publish' || packet.qos === 0) return
    const [marker = 'a write without a mark'] = packet.payload.toString('latin1').match(markers) ?? []
    const ack = packet.qos === 1 ? 'PUBACK' : 'PUBREC'
    unacked.push({ messageId: packet.messageId ?? 0, marker, receivedAt: now, ack })
  })
  sent.on('packet', ({ cmd, messageId = 0 }: Packet) => {
    const done = released.get(messageId)
    if (cmd === 'pubcomp' && done) note('PUBCOMP', done)
    else if (cmd === 'pubcomp') violations.push(`PUBCOMP ${messageId} without PUBREC`)
    if (cmd !== 'puback' && cmd !== 'pubrec') return
    const published = unacked.shift()
    if (published?.messageId !== messageId || published.ack !== cmd.toUpperCase()) {
      violations.push(`${cmd} ${messageId} instead of ${published?.ack} ${published?.messageId}`)
      return
    }
    note(published.ack, published)
    if (cmd === 'pubrec') released.set(messageId, published)
  })
  const take = (packets: typeof received) => (bytes: Buffer, at: number) => {
    now = at
    packets.parse(bytes)
  }
  return { receive: take(received), send: take(sent) }
}
