import { type Packet, parser } from 'mqtt-packet'
import type { SystemCall } from './trace.ts'

/** An ack that was handed to a socket. */
export interface SentAck {
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

export interface SentAcks {
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
export function sentAcks(calls: readonly SystemCall[], markers: RegExp): SentAcks {
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
