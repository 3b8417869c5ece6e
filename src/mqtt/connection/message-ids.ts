import type { BrokerLink } from '../host/broker-link.ts'

const maximumMessageId = 65_535

/** Packet ids of Thingwire's messages to a client to which the broker sends messages, too. */
export class MessageIds {
  readonly #broker: Pick<BrokerLink, 'newestId' | 'uses'>
  #newest = 0

  constructor(broker: Pick<BrokerLink, 'newestId' | 'uses'>) {
    this.#broker = broker
  }

  /** Skips ids that the broker uses. @returns 1 to 65,535 */
  next(): number {
    this.#stayAhead()
    do this.#newest = this.#newest >= maximumMessageId ? 1 : this.#newest + 1
    while (this.#broker.uses(this.#newest))
    return this.#newest
  }

  /** Keeps these ids far from the broker's next ids. The broker counts up without checking which ids are in use. */
  #stayAhead(): void {
    const { newestId } = this.#broker
    if (newestId === 0) return
    const ahead = (this.#newest - newestId + maximumMessageId) % maximumMessageId
    if (ahead < maximumMessageId / 4) this.#newest = (newestId + (maximumMessageId >> 1)) % maximumMessageId
  }
}
