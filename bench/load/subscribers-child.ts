import { Gathering } from './gathering.ts'
import { connectPacket, disconnectPacket, type Identity, subscribePacket } from './mqtt-packets.ts'
import { answerCommands } from './process.ts'
import { RawConnection } from './raw-connection.ts'
import type { Subscription } from './subscribers.ts'

/** Subscribes, in a process of its own, as `subscribe` asks for. */

/** The first four bits of a packet. */
const types = { connack: 2, publish: 3, suback: 9 }
/** The largest message, and what is received at once, bytes. */
const room = 262_144
const puback = 0x4002
const ackLength = 4

type SubscriberSetup = Identity & Pick<Subscription, 'host' | 'port' | 'filters' | 'qos' | 'identifiers'>

const gathering = new Gathering()
let subscribers: readonly Subscriber[] = []

/** A connection that subscribes, and of each message reads no more than it takes to count and acknowledge it. */
class Subscriber {
  received = 0
  readonly #setup: SubscriberSetup
  readonly #connection: RawConnection
  /** Acks of what was received together: each is at least as long as its ack, so there is room for all. */
  readonly #acks = Buffer.alloc(room)
  #acksLength = 0

  constructor(setup: SubscriberSetup) {
    this.#setup = setup
    const { clientId: name, host, port } = setup
    const onBytes = (bytes: Buffer, length: number) => this.#take(bytes, length)
    this.#connection = new RawConnection({ name, host, port, room, onBytes })
  }

  async subscribe(): Promise<void> {
    const { filters, qos, version, identifiers } = this.#setup
    this.#connection.write(connectPacket(this.#setup))
    await this.#connection.until('CONNACK')
    const together = identifiers === 'each' ? filters.map(filter => [filter]) : [filters]
    for (const [index, some] of together.entries()) {
      this.#connection.write(subscribePacket(some, qos, version, identifiers && index + 1))
      await this.#connection.until('SUBACK')
    }
  }

  end(): Promise<void> {
    return this.#connection.end(disconnectPacket(this.#setup))
  }

  #take(bytes: Buffer, length: number): number {
    let at = 0
    for (let end = 0; at < length; at = end) {
      // The remaining length: seven bits a byte, the lowest first, and the eighth where another byte follows.
      let bodyAt = at + 1
      let bodyLength = 0
      let byte = 0x80
      for (let shift = 0; byte & 0x80 && bodyAt < length; shift += 7) {
        byte = bytes[bodyAt++] ?? 0
        bodyLength |= (byte & 0x7f) << shift
      }
      end = bodyAt + bodyLength
      if (byte & 0x80 || end > length) break
      this.#takePacket(bytes, at, bodyAt, end)
    }
    this.#sendAcks()
    gathering.onAnswered()
    return at
  }

  #takePacket(bytes: Buffer, at: number, bodyAt: number, end: number): void {
    const first = bytes[at] ?? 0
    const type = first >> 4
    if (type === types.publish) {
      this.received++
      const isAcked = (first & 0b0110) !== 0
      if (isAcked) this.#ack(bytes.readUInt16BE(bodyAt + 2 + bytes.readUInt16BE(bodyAt)))
    } else if (type === types.connack) {
      this.#check('CONNACK', bytes[bodyAt + 1], 0)
      this.#connection.note('CONNACK')
    } else if (type === types.suback) {
      // In version 5 without properties, whose length goes before the codes.
      const codes = bytes.subarray(bodyAt + (this.#setup.version === 5 ? 3 : 2), end)
      for (const code of codes) this.#check('SUBACK', code, this.#setup.qos)
      this.#connection.note('SUBACK')
    } else throw new Error(`${this.#setup.clientId}: received a packet of type ${type}`)
  }

  #ack(packetId: number): void {
    this.#acks.writeUInt16BE(puback, this.#acksLength)
    this.#acks.writeUInt16BE(packetId, this.#acksLength + 2)
    this.#acksLength += ackLength
  }

  #sendAcks(): void {
    if (this.#acksLength === 0) return
    // The socket may keep what it is given.
    this.#connection.write(Buffer.from(this.#acks.subarray(0, this.#acksLength)))
    this.#acksLength = 0
  }

  #check(packet: string, code: number | undefined, expected: number): void {
    if (code === expected) return
    const { clientId, filters } = this.#setup
    throw new Error(`${clientId}: ${packet} ${code}, when subscribing to ${filters}`)
  }
}

answerCommands({
  subscribe: async ({ count, clientIdPrefix, ...setup }: Subscription) => {
    subscribers = Array.from(
      { length: count },
      (_, index) => new Subscriber({ ...setup, clientId: `${clientIdPrefix}${index}` }),
    )
    await Promise.all(subscribers.map(subscriber => subscriber.subscribe()))
  },
  received: () => subscribers.reduce((sum, { received }) => sum + received, 0),
  processorTime: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  end: async () => void (await Promise.all(subscribers.map(subscriber => subscriber.end()))),
})
