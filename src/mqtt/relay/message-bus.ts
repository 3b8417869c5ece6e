import type { AedesPublishPacket } from 'aedes'
import { FilterTree } from './filter-tree.ts'

type Listener = (packet: AedesPublishPacket, done: () => void) => void

/**
 * Hands messages to whoever listens: what Aedes takes as its `mq`, with the members of `mqemitter`. Unlike that it does not wait for
 * listeners before it takes the next message: how far a client may fall behind is its outbox's affair.
 */
export class MessageBus {
  readonly #listeners = new FilterTree<Listener>()
  readonly #onEmit: (packet: AedesPublishPacket) => void

  /** @param onEmit told of each message of this process */
  constructor(onEmit: (packet: AedesPublishPacket) => void) {
    this.#onEmit = onEmit
  }

  on(filter: string, listener: Listener, done?: () => void): this {
    this.#listeners.add(filter, listener)
    if (done) setImmediate(done)
    return this
  }

  removeListener(filter: string, listener: Listener, done?: () => void): this {
    this.#listeners.remove(filter, listener)
    if (done) setImmediate(done)
    return this
  }

  emit(packet: AedesPublishPacket, done: () => void = () => {}): this {
    this.deliver(packet, done)
    this.#onEmit(packet)
    return this
  }

  /** To those who listen in this process. @param done called when each of them has said so */
  deliver(packet: AedesPublishPacket, done: () => void): void {
    const listeners = this.#listeners.match(packet.topic)
    let left = listeners.length
    if (left === 0) done()
    for (const listener of listeners) {
      listener(packet, () => {
        if (--left === 0) done()
      })
    }
  }

  close(done: () => void): void {
    setImmediate(done)
  }
}
