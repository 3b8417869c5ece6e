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
    .map(({ key }) => key.replace(/^.*(device-\d+-\d+)\/(\d+)$/, '$1/$2'))
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

interface SentAcks {
  readonly acks: readonly SentAck[]
  /** Acks that answer nothing, or leave out of turn. */
  readonly violations: string[]
}

const httpAnswer = 'HTTP/1.1 '
const httpAck = 'HTTP/1.1 201'
const connectByte = 0x10

/**
 * Every ack of the trace, with what it answers.
 *
 * @param markers finds the marks of writes in a request
 */
function sentAcks(calls: readonly SystemCall[], markers: RegExp): SentAcks {
  const sockets = new Map<string, HttpSocket | MqttSocket>()
  const found: { acks: SentAck[]; violations: string[] } = { acks: [], violations: [] }
  for (const { name, file, bytes, result, began, ended } of calls) {
    if (!file.startsWith('socket:') || result <= 0) continue
    const moved = bytes.subarray(0, result)
    const isReceived = name.startsWith('read') || name.startsWith('recv')
    const isMqtt = isReceived && moved[0] === connectByte
    const socket =
      sockets.get(file) ?? (isMqtt ? new MqttSocket(markers, found) : new HttpSocket(markers, found))
    sockets.set(file, socket)
    if (isReceived) socket.receive(moved, ended)
    else socket.send(moved, began)
  }
  return found
}

/** Carries one request at a time. */
class HttpSocket {
  readonly #markers: RegExp
  readonly #acks: SentAck[]
  #request = ''
  #receivedAt = 0

  constructor(markers: RegExp, { acks }: { acks: SentAck[] }) {
    this.#markers = markers
    this.#acks = acks
  }

  receive(bytes: Buffer, at: number): void {
    this.#request += bytes.toString('latin1')
    this.#receivedAt = at
  }

  send(bytes: Buffer, at: number): void {
    const text = bytes.toString('latin1')
    if (!text.includes(httpAnswer)) return
    const [marker = 'an ack without a request'] = this.#request.match(this.#markers) ?? []
    if (text.includes(httpAck)) this.#acks.push({ kind: '201', marker, at, receivedAt: this.#receivedAt })
    this.#request = ''
  }
}

interface Published {
  readonly messageId: number
  readonly marker: string
  readonly receivedAt: number
  readonly ack: 'PUBACK' | 'PUBREC'
}

class MqttSocket {
  readonly #markers: RegExp
  readonly #found: { readonly acks: SentAck[]; readonly violations: string[] }
  readonly #received = parser({ protocolVersion: 4 })
  readonly #sent = parser({ protocolVersion: 4 })
  /** In the order in which they are to be acked. */
  readonly #unacked: Published[] = []
  /** By packet id. */
  readonly #released = new Map<number, Published>()
  #clientId = ''
  #at = 0

  constructor(markers: RegExp, found: { acks: SentAck[]; violations: string[] }) {
    this.#markers = markers
    this.#found = found
    this.#received.on('packet', packet => this.#onReceived(packet))
    this.#sent.on('packet', packet => this.#onSent(packet))
  }

  receive(bytes: Buffer, at: number): void {
    this.#at = at
    this.#received.parse(bytes)
  }

  send(bytes: Buffer, at: number): void {
    this.#at = at
    this.#sent.parse(bytes)
  }

  #onReceived(packet: Packet): void {
    if (packet.cmd === 'connect') this.#clientId = packet.clientId
    if (packet.cmd !== 'publish' || packet.qos === 0) return
    const [marker = 'a write without a mark'] = packet.payload.toString('latin1').match(this.#markers) ?? []
    const ack = packet.qos === 1 ? 'PUBACK' : 'PUBREC'
    this.#unacked.push({ messageId: packet.messageId ?? 0, marker, receivedAt: this.#at, ack })
  }

  #onSent({ cmd, messageId = 0 }: Packet): void {
    if (cmd === 'pubcomp') {
      const published = this.#released.get(messageId)
      if (published) this.#note('PUBCOMP', published)
      else this.#found.violations.push(`PUBCOMP ${messageId} without PUBREC`)
    }
    if (cmd !== 'puback' && cmd !== 'pubrec') return
    const published = this.#unacked.shift()
    if (published?.messageId !== messageId || published.ack !== cmd.toUpperCase()) {
      this.#found.violations.push(`${cmd} ${messageId} instead of ${published?.ack} ${published?.messageId}`)
      return
    }
    this.#note(published.ack, published)
    if (cmd === 'pubrec') this.#released.set(messageId, published)
  }

  #note(kind: SentAck['kind'], { marker, messageId, receivedAt }: Published): void {
    this.#found.acks.push({ kind, marker, at: this.#at, receivedAt, clientId: this.#clientId, messageId })
  }
}
