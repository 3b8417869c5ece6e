import type { Connection, PacketHandler } from '../connection/connection.ts'
import { encodeAck, pingresp } from '../packets/encode.ts'
import { type Ack, type Packet, type Publish, types } from '../packets/packet.ts'
import { isThingwireTopic } from '../topics.ts'
import { PublishDoor, type PublishDoorParts } from './publish-door.ts'
import type { SubscribeDoor } from './subscribe-door.ts'

export interface PacketDoorParts {
  readonly publishing: PublishDoorParts
  readonly subscribing: SubscribeDoor
  /** Drops the will of a connection. @throws ThingwireError of the store */
  readonly forgetWill: (connection: Connection) => Promise<void> | undefined
}

/** Where the packets of one connection go: to the doors, or to the host's broker. */
export class PacketDoor implements PacketHandler {
  readonly #connection: Connection
  readonly #parts: PacketDoorParts
  readonly #publishing: PublishDoor

  constructor(connection: Connection, parts: PacketDoorParts) {
    this.#connection = connection
    this.#parts = parts
    this.#publishing = new PublishDoor(connection, parts.publishing)
  }

  take(packet: Packet): Promise<void> | undefined {
    const connection = this.#connection
    switch (packet.cmd) {
      case 'publish':
        return this.#takePublish(packet)
      case 'connect':
        // Until it is answered, nothing behind it may be looked at.
        connection.inbound.hold()
        return connection.passToBroker()
      case 'subscribe':
        return this.#parts.subscribing.subscribe(connection, packet)
      case 'unsubscribe':
        return this.#parts.subscribing.unsubscribe(connection, packet)
      case 'pingreq':
        if (connection.isHosts) return connection.passToBroker()
        connection.socket.write(pingresp)
        return undefined
      case 'disconnect':
        return this.#takeLeave()
      default:
        return this.#takeAck(packet)
    }
  }

  #takePublish(packet: Publish): undefined {
    const isOfBroker = this.#connection.isHosts && !isThingwireTopic(packet.topic)
    if (isOfBroker) this.#connection.passToBroker()
    else this.#publishing.take(packet)
  }

  #takeAck({ cmd, messageId }: Ack): undefined {
    const { live, broker, socket, isHosts } = this.#connection
    if (cmd === 'pubrel' && this.#publishing.release(messageId)) return undefined
    if (cmd === 'pubrel' && !isHosts) {
      socket.write(encodeAck(types.pubcomp, messageId))
      return undefined
    }
    if (cmd === 'puback' && live.ack(messageId)) {
      const waiting = broker.takeWaiting(messageId)
      if (waiting) socket.write(waiting)
      return undefined
    }
    // What the broker knows nothing of, a client of ours may acknowledge as it likes.
    if (isHosts || broker.uses(messageId)) this.#connection.passToBroker()
    if (cmd === 'puback' || cmd === 'pubcomp') broker.acked(messageId)
  }

  /** The will is gone before the connection is closed: a client that sees it closed has none any more, even if the process dies. */
  #takeLeave(): Promise<void> | undefined {
    const connection = this.#connection
    connection.disconnected()
    const forgetting = this.#parts.forgetWill(connection)
    if (forgetting) return forgetting.then(() => connection.leave())
    connection.leave()
    return undefined
  }
}
